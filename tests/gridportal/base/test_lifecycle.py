"""Tables of steps."""

from __future__ import annotations

from enum import StrEnum

import pytest

from gridportal.base.lifecycle import Lifecycle


class Light(StrEnum):
    GREEN = "green"
    RED = "red"
    OFF = "off"


def test_states_that_none_may_follow_are_final() -> None:
    life = Lifecycle({Light.GREEN: {Light.RED}, Light.RED: {Light.OFF}, Light.OFF: ()})
    assert (life.final, life.open) == ({Light.OFF}, {Light.GREEN, Light.RED})
    assert life.may_follow("green", Light.RED)
    assert not life.may_follow(Light.GREEN, "off")


def test_a_table_that_misses_a_state_is_refused() -> None:
    with pytest.raises(ValueError, match="red, off"):
        Lifecycle({Light.GREEN: {Light.RED}})
