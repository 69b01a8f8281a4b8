"""How long a match in a process of its own may take: a page waits for it."""

from __future__ import annotations

import time

import pytest

from gridportal.base.errors import GridPortalError
from gridportal.base.processes import TooSlowError
from scheduling.matching.core.language.ad_reader import ASKED_EVERY, read_ad
from scheduling.matching.match_messages import notice_message
from scheduling.matching.services import limited_match, match_texts
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


def test_time_ends_reading_and_filtering_and_what_was_found_until_then_counts() -> None:
    resources = "".join(f"[ machine = {number}; cpus = {number % 9 + 1} ]\n" for number in range(2000))
    request = '[ Type = "Set"; requirements = other.cpus > 1; rank = Sum(other.cpus) ]'
    made = match_texts.answer(MatchQuestion(request, resources, seconds=0.0))
    assert (made.pool, made.exact, made.bound) == (ASKED_EVERY, False, None)
    assert made.machines
    assert notice_message(made.notices[0]) == (
        "resources, line 257, column 1: the time was over when 256 resources were read; the others are left out"
    )


def test_time_ends_what_only_the_library_evaluates() -> None:
    resources = [read_ad(f"[ machine = {number} ]").ad for number in range(2000)]
    request = '[ Type = "Set"; requirements = regexp("1", string(other.machine)); rank = SetSize ]'
    made = match_texts.answer(MatchQuestion(request, "", seconds=0.0), resources)
    assert (made.pool, made.exact, made.machines != ()) == (2000, False, True)
    assert made.passing == sum("1" in str(number) for number in range(ASKED_EVERY))
    assert notice_message(made.notices[0]) == (
        "the time was over when 256 resources were held against the request; the others are left out"
    )


def test_the_clock_runs_from_when_the_match_was_asked_for() -> None:
    resources = "[ a = 1 ]\n" * 1000
    question = MatchQuestion("[]", resources, seconds=60.0, asked_at=time.monotonic() - 61)
    assert limited_match.limited_match(question).pool == ASKED_EVERY
