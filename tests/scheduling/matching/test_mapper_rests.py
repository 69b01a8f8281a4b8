"""A mapper that ran into its time limit rests: it holds up the jobs of others once, and not in each round."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.core.cache import cache
from django.utils import timezone

from scheduling.matching.core.mapping.mapper_interface import MappedShare, MapperMachine, MapperQuestion
from scheduling.matching.services import mapper_rests
from scheduling.matching.services.mapper_rests import LIMIT, REST, asked_unless_resting
from scheduling.matching.services.mapping import MapperReply

LATE = MapperReply(failure="no answer", is_late=True)


def question(machines: int) -> MapperQuestion:
    return MapperQuestion(tuple(MapperMachine(f"m{n}", 1) for n in range(machines)))


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, int, float]]]:
    """Who was asked about how many machines, and with which limit: all are late but `quick`."""
    calls: list[tuple[str, int, float]] = []

    def mapped(name: str, asked: MapperQuestion, seconds: float) -> MapperReply:
        calls.append((name, len(asked.machines), seconds))
        return MapperReply((MappedShare(0, 1.0),)) if name == "quick" else LATE

    monkeypatch.setattr(mapper_rests, "mapped", mapped)
    cache.clear()
    yield calls
    cache.clear()


def test_it_is_asked_once_and_then_told_when_it_is_asked_again(asked: list[tuple[str, int, float]]) -> None:
    first, second = asked_unless_resting("their ü", question(2)), asked_unless_resting("their ü", question(1))
    assert asked == [("their ü", 2, LIMIT)]
    assert first.failure == second.failure
    assert first.failure.startswith("it did not answer within 10 s; it is asked again after ")
    assert asked_unless_resting("quick", question(2)).shares, "others are asked"


def test_it_is_asked_again_after_its_rest(asked: list[tuple[str, int, float]], monkeypatch: pytest.MonkeyPatch) -> None:
    asked_unless_resting("slow", question(2))
    later = timezone.now() + timedelta(seconds=REST + 1)
    monkeypatch.setattr(mapper_rests, "timezone", SimpleNamespace(now=lambda: later))
    asked_unless_resting("slow", question(2))
    assert len(asked) == 2


def test_one_that_had_less_than_its_limit_does_not_rest(asked: list[tuple[str, int, float]]) -> None:
    reply = asked_unless_resting("slow", question(2), until=time.monotonic() + LIMIT / 2)
    assert reply.failure == LATE.failure
    assert asked[0][2] <= LIMIT / 2
    assert "no time" in asked_unless_resting("slow", question(2), until=time.monotonic()).failure
    asked_unless_resting("slow", question(2))
    assert len(asked) == 2


def test_one_of_the_portal_is_still_asked_about_fewer_machines(asked: list[tuple[str, int, float]]) -> None:
    """Whoever asks it about thousands keeps nobody else from it."""
    for machines in (100, 5, 100):
        asked_unless_resting("line", question(machines))
    assert [machines for _, machines, _ in asked] == [100, 5]
