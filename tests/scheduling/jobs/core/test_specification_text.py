"""Pins as people type them are read back as they were, and what is none is refused in a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from scheduling.jobs.core import specification_text
from scheduling.jobs.core.application_specification import ApplicationSpecification

NODES = st.lists(st.from_regex(r"[a-z][a-z0-9-]{0,6}", fullmatch=True), min_size=1, max_size=3, unique=True)


@given(st.dictionaries(st.integers(0, 9).map(str), NODES, max_size=4))
def test_pins_are_read_as_they_were_written(pins):
    asked = ApplicationSpecification.read({"pins": pins})
    again = specification_text.parse_pins(specification_text.pins(asked))
    assert ApplicationSpecification.read({"pins": again}) == asked


@given(st.dictionaries(st.integers(0, 9).map(str), NODES, max_size=4), st.sampled_from([",", ", ", "|", " , "]))
def test_nodes_of_a_pin_may_have_commas_between_them(pins, between):
    text = " ".join(f"{what}={between.join(nodes)}" for what, nodes in pins.items())
    assert specification_text.parse_pins(text) == pins


@pytest.mark.parametrize("text", ["n3", "n1,n2", "0=n1 n2", "=n3", "0=", "0=|", "0=n1 0=n2"])
def test_what_is_no_pin_is_refused(text):
    with pytest.raises(InputError, match=r"^pins is "):
        specification_text.parse_pins(text)
