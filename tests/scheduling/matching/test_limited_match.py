"""How long a match in a process of its own may take: a page waits for it."""

from __future__ import annotations

import time

import pytest

from gridportal.base.errors import GridPortalError
from gridportal.base.processes import TooSlowError
from scheduling.matching.services import limited_match
from scheduling.matching.services.match_texts import MatchQuestion


@pytest.mark.parametrize(("letters", "most"), [(1000, 20), (1_000_000, 30), (10**8, 64)])
def test_an_expression_holds_a_page_by_what_there_is_to_read(monkeypatch, letters, most):
    limits = []

    def too_slow(argv, *, timeout, **_):
        limits.append(timeout)
        raise TooSlowError("match", timeout)

    monkeypatch.setattr(limited_match, "run", too_slow)
    with pytest.raises(GridPortalError, match="was ended"):
        limited_match.limited_match(MatchQuestion("[]", " " * letters, seconds=2.0))
    assert 4 < limits[0] <= most


def test_what_is_left_of_a_preview_bounds_a_match(monkeypatch):
    limits = []

    def too_slow(argv, *, timeout, **_):
        limits.append(timeout)
        raise TooSlowError("match", timeout)

    monkeypatch.setattr(limited_match, "run", too_slow)
    question = MatchQuestion("[]", "", seconds=2.0)
    with pytest.raises(GridPortalError, match="was ended"):
        limited_match.limited_match(question, time.monotonic() + 3.0)
    assert limits[0] <= 3.0
    with pytest.raises(GridPortalError, match="took all the time"):
        limited_match.limited_match(question, time.monotonic() - 1.0)
    assert len(limits) == 1
