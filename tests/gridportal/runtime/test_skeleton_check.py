"""A skeleton that somebody changed is refused with the place of the mistake before any rank begins."""

from __future__ import annotations

import contextlib
import copy
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from gridportal.base import processes as shell
from gridportal.base.errors import InputError
from gridportal.runtime.skeleton_check import runnable

SENT = {"op": "sendrecv", "to": 1, "bytes": 8, "tag": 0, "from": 1, "from_bytes": 8, "from_tag": 0}
ALL = {"op": "alltoallv", "comm": "0", "bytes": 2, "counts": [1, 1], "from_counts": [1, 1]}
GOOD: dict[str, Any] = {
    "version": 1,
    "program": "p",
    "ranks": 2,
    "rate": 1e5,
    "application": {"work": [1.0, 1.0], "unseen": [0.0, 0.0]},
    "comms": {"0": [0, 1]},
    "segments": [
        {
            "times": 9,
            "part": 1.0,
            "inside": [0.1, 0.1],
            "ranks": [[{"op": "work", "seconds": 0.0}, SENT, ALL], [{**SENT, "to": 0, "from": 0}, ALL]],
        }
    ],
    "schedule": [{"loop": 3, "body": [0]}],
}
LINE = ("segments", 0, "ranks", 0)
FARM: dict[str, Any] = {"op": "master", "master": 0, "ranks": [1, 2], "given": 9, "last": 4, "seconds": 0.0, "bytes": 8}


def farming(**changes: Any) -> dict[str, Any]:
    """A skeleton of three ranks, of which the first is the master of a farm."""
    master = {**FARM, "tasks": [[0.1, 8, 4]], **changes}
    lines = [[master], *[[{**FARM, "tasks": [[0.1, 8, 4]], "op": "worker"}]] * 2]
    alone = {"work": [1.0] * 3, "unseen": [0.0] * 3}
    segment = {"times": 1, "part": 0.1, "inside": [0.1] * 3, "ranks": lines}
    return {**GOOD, "ranks": 3, "comms": {}, "application": alone, "segments": [segment], "schedule": [0]}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"op": "worker"}, "what rank 0 is in this farm"),
        ({"master": 3}, "master is 3; accepted is a whole number from 0 to 2"),
        ({"ranks": [1]}, "two ranks or more"),
        ({"ranks": [1, 1]}, "two ranks or more"),
        ({"ranks": [0, 1]}, "two ranks or more"),
        ({"given": -1}, "given is -1"),
        ({"last": 2**31}, "last is 2147483648"),
        ({"bytes": None}, "bytes is empty"),
        ({"tasks": []}, "tasks is '0 tasks'"),
        ({"tasks": [[0.1, 8]]}, "3 numbers, seconds, bytes back and bytes out"),
        ({"tasks": [[0.1, 8, 0.5]]}, "tasks is 0.5"),
    ],
)
def test_a_farm_that_does_not_fit_is_refused(changes: dict[str, Any], said: str) -> None:
    assert runnable(farming())
    with pytest.raises(InputError) as refused:
        runnable(farming(**changes))
    assert said in str(refused.value)


def changed(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    document = copy.deepcopy(GOOD)
    place: Any = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("rate",), 0, "skeleton rate is 0"),
        (("program",), None, "skeleton program is empty"),
        (("application",), {}, "skeleton application.work is empty"),
        (("application", "unseen"), [0.0], "skeleton application.unseen is 0.0; accepted is 2 numbers"),
        (("application", "work", 0), float("nan"), "skeleton application.work is nan"),
        (("comms", "0"), [0, 0], "skeleton comms.0 is 0, 0"),
        (("comms", "0"), [0, 2], "skeleton comms.0 is 2"),
        (("segments", 0, "part"), 0, "skeleton segments[0].part is 0; accepted is a number from 1e-12"),
        (("segments", 0, "inside"), [0.1], "skeleton segments[0].inside is 0.1; accepted is 2 numbers"),
        (("segments", 0, "ranks"), [[]], "skeleton segments[0].ranks is empty; accepted is a line for each"),
        ((*LINE, 0, "seconds"), -1, "skeleton segments[0].ranks[0][0].seconds is -1"),
        ((*LINE, 0), {"op": "wait"}, "skeleton segments[0].ranks[0][0].slots is empty"),
        ((*LINE, 0), {"op": "sing"}, "skeleton segments[0].ranks[0][0] is {'op': 'sing'}"),
        ((*LINE, 1, "to"), 2, "skeleton segments[0].ranks[0][1].to is 2; accepted is a whole number from 0 to 1"),
        ((*LINE, 1, "from_tag"), "any", "skeleton segments[0].ranks[0][1].from_tag is 'any'"),
        ((*LINE, 2, "comm"), "7", "skeleton segments[0].ranks[0][2].comm is 7"),
        ((*LINE, 2, "root"), 5, "skeleton segments[0].ranks[0][2].root is 5"),
        ((*LINE, 2, "counts"), [1], "skeleton segments[0].ranks[0][2].counts is 1; accepted is 2 numbers"),
        ((*LINE, 2, "from_counts"), None, "skeleton segments[0].ranks[0][2].from_counts is empty"),
        (("schedule", 0, "loop"), 10**12, "skeleton schedule[0].loop is 1000000000000"),
        (("schedule", 0, "body"), [{"loop": 5_000_000, "body": []}], "skeleton schedule is '15,000,000 runs"),
        (("schedule", 0, "body"), [1], "skeleton schedule[0].body[0] is 1"),
    ],
)
def test_what_is_wrong_is_named(path: tuple[Any, ...], value: Any, said: str) -> None:
    assert runnable(GOOD) is GOOD
    with pytest.raises(InputError) as refused:
        runnable(changed(path, value))
    assert str(refused.value).startswith(said)


def places(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [*([here] if here else []), *(place for name, each in inner for place in places(each, (*here, name)))]


def test_whatever_stands_anywhere_the_answer_is_a_sentence() -> None:
    values = [None, True, -1, 10**400, 0.5, float("nan"), "x", [], {}, [[]], [{}], {"op": []}, {"loop": 1}]
    for place in places(GOOD):
        for value in random.Random(1).sample(values, len(values)):
            with contextlib.suppress(InputError):
                assert runnable(changed(place, value))


def run(path: Path) -> shell.Completed:
    mpiexec = str(Path(sys.executable).parent / "mpiexec")
    argv = [mpiexec, "-n", "2", sys.executable, "-m", "gridportal.runtime.skeleton", str(path)]
    return shell.run(argv, timeout=240, check=False)


def test_a_good_one_runs_although_a_segment_of_it_never_does(tmp_path: Path) -> None:
    path = tmp_path / "skeleton.json"
    path.write_text(json.dumps({**GOOD, "segments": [*GOOD["segments"], {**GOOD["segments"][0], "times": 0}]}))
    found = json.loads(run(path).stdout.splitlines()[-1])
    assert 0 < found["communicating"] <= found["predicted"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 100_000, "cannot be read"),
        (json.dumps(changed(("schedule", 0, "loop"), 10**12)), "cannot be run: skeleton schedule[0].loop"),
    ],
)
def test_its_program_says_so_once_and_without_a_traceback(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "skeleton.json"
    path.write_text(text)
    done = run(path)
    assert done.returncode != 0
    assert done.stderr.count(said) == 1
    assert "Traceback" not in done.stdout + done.stderr
