"""A mapper of another package that takes its time holds up its own job, and nobody behind it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future

import pytest
from django.core.cache import cache

from gridportal.base.reasons import Code
from scheduling.jobs.core.application_specification import ApplicationSpecification, Pin
from scheduling.jobs.models import Job
from scheduling.matching.core.mapping.mapper_interface import MappedShare, MapperMachine, MapperQuestion
from scheduling.matching.services import mapper_rests
from scheduling.matching.services.mapping import MapperReply
from scheduling.messages import message
from scheduling.placing.services import mappers_beside, rounds
from scheduling.placing.services.choosing import WaitsError
from tests.fake_grid import FakeGrid

REQUEST = '[ Type = "Set"; requirements = SetSize == 2; rank = Sum(other.cpu); Mapper = "theirs" ]'
Names = list[tuple[str, ...]]


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """While it is not set, no mapper answers; a round waits for none of them."""
    event = threading.Event()
    monkeypatch.setattr(mappers_beside, "PATIENCE", 0.0)
    cache.clear()
    mappers_beside._asked.clear()
    yield event
    event.set()
    for each in list(mappers_beside._asked.values()):
        each.reply.result(timeout=60)
    mappers_beside._asked.clear()
    cache.clear()


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch, answers: threading.Event) -> Names:
    """About which machines: the answer is the reverse order, the first one three quarters of the work."""
    calls: Names = []

    def mapped(name: str, question: MapperQuestion, seconds: float) -> MapperReply:
        calls.append(tuple(machine.dns for machine in question.machines))
        if not answers.wait(60):
            return MapperReply(failure="no answer", is_late=True)
        last = len(question.machines) - 1
        parts = [0.75, *[0.25 / max(last, 1)] * last]
        return MapperReply(tuple(MappedShare(last - at, part) for at, part in enumerate(parts)))

    monkeypatch.setattr(mapper_rests, "mapped", mapped)
    return calls


def question(*names: str) -> MapperQuestion:
    return MapperQuestion(tuple(MapperMachine(name, 1) for name in names))


def end_of_answers(answers: threading.Event) -> None:
    """All have answered that are asked."""
    answers.set()
    for each in list(mappers_beside._asked.values()):
        each.reply.result(timeout=60)


def place(*jobs: Job) -> list[Job]:
    rounds.place_and_start_all(jobs[0].cluster)
    for job in jobs:
        job.refresh_from_db()
    return list(jobs)


def test_its_job_waits_and_others_are_placed_meanwhile(
    submit: Callable[..., Job], fake_grid: FakeGrid, answers: threading.Event, asked: Names
) -> None:
    fake_grid.cpus = {"n1": 0.9, "n2": 0.9, "n3": 0.4, "n4": 0.4}
    pinned = ApplicationSpecification(pins=(Pin(0, ("n4",)),))
    theirs, other = place(submit(None, classad=REQUEST), submit(1, specification=pinned))
    assert (theirs.state, theirs.reason.code, other.state) == ("waiting", Code.MAPPER_ASKED, "starting")
    assert message(theirs.reason).startswith("Its mapper theirs takes its time; other jobs are placed meanwhile.")
    assert place(theirs)[0].state == "waiting"
    assert len(asked) == 1, "it is not asked anew while it is asked"
    end_of_answers(answers)
    assert place(theirs)[0].state == "starting"
    assert len(asked) == 1
    placement = theirs.runs.get().placement
    assert placement.nodes == list(reversed(asked[0]))
    assert placement.shares == [0.75, 0.25]


def test_an_answer_is_of_its_own_machines(answers: threading.Event, asked: Names) -> None:
    with pytest.raises(WaitsError):
        mappers_beside.ask(1, "theirs", question("a", "b"))
    with pytest.raises(WaitsError):
        mappers_beside.check(1)
    mappers_beside.check(2)
    end_of_answers(answers)
    mappers_beside.check(1)
    assert mappers_beside.ask(1, "theirs", question("a", "b")).shares[0].place == 1
    assert asked == [("a", "b")]


def test_an_answer_holds_for_a_while(answers: threading.Event, asked: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WaitsError):
        mappers_beside.ask(1, "theirs", question("a", "b"))
    end_of_answers(answers)
    monkeypatch.setattr(mappers_beside, "PATIENCE", 60.0)
    for _ in range(2):
        mappers_beside.ask(1, "theirs", question("a", "b"))
    mappers_beside.ask(1, "theirs", question("b", "a"))
    assert asked == [("a", "b"), ("b", "a")]
    monkeypatch.setattr(mappers_beside, "_KEPT", -1.0)
    mappers_beside.ask(1, "theirs", question("a", "b"))
    assert asked == [("a", "b"), ("b", "a"), ("a", "b")]


def test_one_that_answers_at_once_is_asked_each_time(
    answers: threading.Event, asked: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers.set()
    monkeypatch.setattr(mappers_beside, "PATIENCE", 60.0)
    for _ in range(2):
        mappers_beside.ask(1, "theirs", question("a"))
    assert asked == [("a",), ("a",)]
    assert not mappers_beside._asked


def test_a_round_waits_once_for_a_slow_one(answers: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    waited = list[float]()
    monkeypatch.setattr(mappers_beside, "wait", lambda replies, timeout: waited.append(timeout))
    monkeypatch.setattr(mappers_beside, "PATIENCE", 3.0)
    monkeypatch.setattr(mappers_beside._threads, "submit", lambda *about: Future[MapperReply]())
    for job in (1, 2, 3):
        with pytest.raises(WaitsError):
            mappers_beside.ask(job, "theirs", question("a"))
    assert waited == [3.0, 0.0, 0.0]
    mappers_beside._asked.clear()


def test_who_lost_its_machines_again_and_again_is_waited_for(
    answers: threading.Event, asked: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    for machine in ("a", "b", "c"):
        with pytest.raises(WaitsError):
            mappers_beside.ask(1, "theirs", question(machine))
    end_of_answers(answers)
    waited = list[float]()
    monkeypatch.setattr(mappers_beside, "wait", lambda replies, timeout: waited.append(timeout))
    monkeypatch.setattr(mappers_beside._threads, "submit", lambda *about: Future[MapperReply]())
    for job in (1, 2):
        with pytest.raises(WaitsError):
            mappers_beside.ask(job, "theirs", question("d"))
    assert waited == [mapper_rests.LIMIT, 0.0]
    mappers_beside._asked.clear()


def test_those_of_the_portal_are_waited_for(answers: threading.Event, asked: Names) -> None:
    answers.set()
    assert mappers_beside.ask(1, "line", question("a", "b")).shares
    assert not mappers_beside._asked
