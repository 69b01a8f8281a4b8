"""Every code has one sentence that uses facts which the code has; every reason comes back from its row as it was."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from gridportal.base.reasons import NOTHING, Code, Reason, text_reason, too_few_free
from scheduling.messages import brief, message
from scheduling.messages.registry import BRIEF, MESSAGES, says

GROUP = {"pair": ["n1", "n2"], "bandwidth": 8e7, "cpu": 0.9, "is_linked": True}
#: A value for each fact that any code has.
FACTS: dict[str, Any] = {
    "model": "past-runs",
    "mapper": "planes",
    "among": Reason.of(Code.AMONG_MATCHED, is_set=True, is_exact=True, by_request=True),
    "is_set": True,
    "is_exact": True,
    "is_own": False,
    "by_request": True,
    "project": "ocean",
    "used": 8.4,
    "allocated": 10.0,
    "ends": "2026-12-31",
    "refuses": True,
    "begin": "2026-11-01",
    "until": "2026-12-01",
    "needed": 4,
    "option": "partition",
    "room": 1,
    "free": 2,
    "total": 10,
    "holders": [12, 13],
    "more": 2,
    "why": text_reason("so it is"),
    "stage": "choosing",
    "min_bandwidth": 9e8,
    "min_cpu": 0.5,
    "nodes": ["n1", "n2"],
    "closed": {"n3": "It is down."},
    "named": [7],
    "job": 12,
    "older": 3,
    "jobs": [12, 13],
    "start": "2026-11-23T14:05:00+00:00",
    "cluster": "hpc",
    "times": 3,
    "error": "No answer.",
    "method": "pattern",
    "restarted": Reason.of(Code.NODE_FAILED),
    "another_day": True,
    "state": NOTHING,
    "slurm_reason": "Resources",
    "person": "ada",
    "fault": "exit.json is a directory.",
    "program": "/bin/x",
    "inside": "mpirun",
    "folder": "/tmp",
    "clusters": ["grid", "slurm"],
    "exit_code": 3,
    "verified": None,
    "log": ["one", "two"],
    "wrote": True,
    "limit": 4.0,
    "states": ["NEW"],
    "groups": 3,
    "over": 1,
    "budget": 6.0,
    "application": 60.0,
    "ahead": True,
    "ranks": 4,
    "threads": 3,
    "calls": ["MPI_Put"],
    "copies": 4,
    "rate": 1000.0,
    "size": 8.0,
    "runs": 2,
    "mpi": "Open MPI",
    "found": 2,
    "library": "libcuda.so.1",
    "by": "skeleton",
    "pair": ["n1", "n2"],
    "ended": 2,
    "compared": 2,
    "spent": 4.2,
    "predicted": 40.0,
    "selection": 52.0,
    "allowed": 2.0,
    "gives_up": False,
    "since": "2026-11-23T14:05:00+00:00",
    "seconds": 11.0,
    "phase": "panel",
    "promised": 3.1,
    "average": 2.2,
    "seed": 1,
    "group": GROUP,
    "cpu": 0.8,
    "flows": True,
    "balance": {"score": 0.5, "binds": "network", "cpu": 0.9},
    "slack": 0.05,
    "less": 0.1,
    "is_scatter": True,
    "gap": 0.02,
    "mean": 8e7,
    "best": 0.9,
    "is_faster": False,
    "text": "As it stands.",
    "run": 2,
    "before": "running",
    "now": "held",
    "share": 0.9,
    "launcher": "Open MPI's mpirun",
    "place_of": "n4",
    "is_busiest": True,
    "slots": 1,
    "bandwidth": 4e7,
    "score": 0.4,
    "condition": "site=utk",
    "label": "site",
    "has": "ucsd",
    "pattern": "Total = (.*)",
    "line": "ERROR: no convergence",
    "checkpoint": 3,
    "file": "0-1.raw",
    "subject": "n1>n2",
    "metric": "link_use",
    "value": 0.93,
    "level": 0.8,
    "above": True,
    "lasted": 600.0,
    "others": 2,
    "waits_for": [{"job": 12, "state": "running", "has_to_succeed": True}],
}
OTHERS: dict[Code, dict[str, Any]] = {
    Code.TRIAL_AWAITS: {"until": "2026-11-23T14:05:00+00:00"},
    Code.AFTER_NEVER: {"state": "failed"},
    Code.PREDICTED: {"more": 3.0},
    Code.MOST_CPU: {"nodes": 2},
    Code.MOST_BALANCED: {"nodes": 2},
    Code.FASTEST: {"nodes": 2},
    Code.NOT_PREDICTED: {"state": "stopped"},
    Code.PLAIN_TEXT_WITH_LOG: {"log": "one / two"},
}


def example(code: Code) -> Reason:
    facts = {name: OTHERS.get(code, {}).get(name, FACTS[name]) for name in code.facts}
    return Reason.of(code, **facts)


def test_every_code_has_a_sentence_of_its_own_facts() -> None:
    for code in Code:
        assert set(inspect.signature(MESSAGES[code]).parameters) <= set(code.facts), code
        found = message(example(code))
        assert bool(found) == (code is not Code.NONE), code
        assert "None" not in found
        assert "{" not in found


def test_a_reason_comes_back_from_its_row() -> None:
    for code in Code:
        reason = example(code)
        back = Reason.load(reason.dump())
        assert back == reason
        assert (hash(back), message(back), brief(back)) == (hash(reason), message(reason), brief(reason))


def test_no_sentence_can_use_a_fact_that_its_code_does_not_have() -> None:
    with pytest.raises(TypeError, match="verified has no colour"):
        says(Code.VERIFIED)(lambda colour: str(colour))
    with pytest.raises(TypeError, match="verified has two sentences"):
        says(Code.VERIFIED)(lambda: "again")


def test_no_reason_can_lack_a_fact_or_have_a_strange_one() -> None:
    with pytest.raises(ValueError, match="behind has the facts named, more, not named"):
        Reason.of(Code.BEHIND, named=[1])
    with pytest.raises(ValueError, match="verified has the facts none, not colour"):
        Reason.of(Code.VERIFIED, colour="red")


def test_every_brief_sentence_stands_beside_a_whole_one() -> None:
    assert set(BRIEF) <= set(MESSAGES)
    ended = example(Code.ENDED)
    assert message(ended).endswith("Its log says: one / two")
    assert message(ended).startswith(brief(ended))
    assert "log" not in brief(ended)


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        ("", ""),
        ("A sentence of an earlier version.", "A sentence of an earlier version."),
        ('{"code": "of a later version", "facts": {"text": "Its words."}}', "Its words."),
        ('{"code": "too_few_free", "facts": {"needed": 4}}', 'too_few_free {"needed": 4}'),
        ('{"code": ["x"], "facts": 3}', "['x'] {}"),
        ("{not JSON", "{not JSON"),
    ],
)
def test_what_no_code_is_known_of_is_told_as_it_stands(stored: str, words: str) -> None:
    assert message(Reason.load(stored)) == words


def test_a_reason_names_a_few_of_many_jobs() -> None:
    assert too_few_free(4, 1, 4000, range(3999)).facts["holders"] == [0, 1, 2, 3]
    assert "Jobs 0, 1, 2, 3 and 3995 more hold" in message(too_few_free(4, 1, 4000, range(3999)))
