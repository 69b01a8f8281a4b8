"""How long a match in a process of its own may take: a page waits for it."""

from __future__ import annotations

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
