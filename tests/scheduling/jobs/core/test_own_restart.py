"""Programs with a restart of their own: what is accepted of them, and what their command becomes."""

from __future__ import annotations

from typing import Any

import pytest

from gridportal.base.errors import InputError
from scheduling.jobs.core.own_restart import OwnRestart, problems, with_restart
from scheduling.jobs.core.stop_means import StopBy, StopMeans
from scheduling.jobs.core.stop_means import problems as means_problems

GOOD: dict[str, Any] = {
    "by": "own",
    "seconds": 60.0,
    "signal": "TERM",
    "restart": ["-cpi", "{file}"],
    "pattern": "state*.cpt",
    "ranks": {"choices": [2, 4]},
    "checkpoint": {"signal": "USR2"},
    "every": 600.0,
}


def test_all_that_is_said_is_kept() -> None:
    means = StopMeans.read(GOOD)
    assert means.by is StopBy.OWN
    assert means.document() == GOOD
    assert StopMeans.stored(means.document()) == means


def test_what_is_not_said_is_not_kept() -> None:
    least = {"by": "own", "seconds": 300.0, "file": "stop", "restart": ["again"], "pattern": "*.restart"}
    assert StopMeans.read(least).document() == least


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"signal": "KILL"}, "stop_means.signal"),
        ({"signal": None, "file": "../x"}, "stop_means"),
        ({"file": "stop"}, "stop_means"),
        ({"restart": "-cpi"}, "stop_means.restart"),
        ({"restart": []}, "stop_means.restart"),
        ({"restart": ["a\nb"]}, "stop_means.restart"),
        ({"pattern": ""}, "stop_means.pattern"),
        ({"pattern": "/etc/*"}, "stop_means.pattern"),
        ({"pattern": "../*"}, "stop_means.pattern"),
        ({"pattern": "a/../../b"}, "stop_means.pattern"),
        ({"pattern": "**/x"}, "stop_means.pattern"),
        ({"pattern": "a//b"}, "stop_means.pattern"),
        ({"pattern": 7}, "stop_means.pattern"),
        ({"ranks": {"choices": []}}, "stop_means.ranks"),
        ({"ranks": {"most": 3}}, "stop_means.ranks"),
        ({"checkpoint": {"file": "/x"}}, "stop_means.checkpoint.file"),
        ({"every": 0.1}, "stop_means.every"),
        ({"every": True}, "stop_means.every"),
        ({"checkpoint": {}, "every": 60}, "stop_means.every"),
        ({"seconds": 0}, "stop_means.seconds"),
        ({"pause": 1}, "stop_means"),
    ],
)
def test_what_cannot_be_is_refused_by_its_field(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as refused:
        StopMeans.read({**GOOD, **changes})
    assert refused.value.field == field


def test_all_errors_are_told_at_once() -> None:
    wrong = {**GOOD, "signal": "KILL", "restart": [], "pattern": "..", "ranks": {"most": 1}, "every": -1, "seconds": -1}
    fields = [error.field.removeprefix("stop_means.") for error in means_problems(wrong)]
    assert sorted(fields) == ["every", "pattern", "ranks", "restart", "seconds", "signal"]
    assert problems({name: GOOD[name] for name in ("signal", "restart", "pattern")}) == []


def test_means_of_its_own_are_only_for_a_program_that_is_stopped_by_them() -> None:
    with pytest.raises(InputError, match=r"stop_means\.pattern"):
        StopMeans.read({"by": "srs", "pattern": "*.restart"})


def test_nothing_stands_for_a_restart_at_the_first_start() -> None:
    own = StopMeans.read(GOOD).own
    assert isinstance(own, OwnRestart)
    command = ["gmx", "-n={ranks}", "{restart}", "-v"]
    assert list(with_restart(command, own.restart_argv(""), {"ranks": 4})) == ["gmx", "-n=4", "-v"]


def test_the_file_of_a_restart_stays_one_argument_whatever_its_name() -> None:
    own = StopMeans.read({**GOOD, "restart": ["-cpi", "{file}", "-deffnm", "{name}"]}).own
    assert isinstance(own, OwnRestart)
    words = own.restart_argv("/jobs/a b/state {ranks} $(id).cpt")
    assert list(with_restart(["gmx", "{restart}"], words, {"ranks": 4})) == [
        *("gmx", "-cpi", "/jobs/a b/state {ranks} $(id).cpt", "-deffnm", "state {ranks} $(id).cpt"),
    ]
