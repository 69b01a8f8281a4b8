"""Types of event: each writes what it reads, says what is wrong, and one more is one more class."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest

from gridportal.base.errors import InputError
from gridportal.runtime import progress_events
from gridportal.runtime.progress_events import (
    EVENTS,
    CheckpointWritten,
    Phase,
    Restored,
    Result,
    Start,
    StartsAnew,
    Stopped,
)
from scheduling.runs.core import progress

DOCS = Path(__file__).parents[3] / "docs" / "applications.md"


@pytest.mark.parametrize(
    "event",
    [
        Start(["n3", "n7"]),
        Phase("fft", 0.25, at=9.5),
        Phase("fft", 0.25, 3, 15, 0.125, 0.5, at=9.5),
        Result(True, 2.5, {"zeta": 8.6}),
        Result(None, None, {}),
    ],
    ids=str,
)
def test_what_is_written_is_read_again(event: progress_events.ProgressEvent) -> None:
    line = json.loads(json.dumps(progress_events.written(event, 9.5)))
    assert (line["t"], line["event"]) == (9.5, event.WORD)
    assert progress_events.read(line) == event


def test_what_a_program_says_of_itself_stands_in_its_first_line() -> None:
    line = progress_events.written(Start(["n1"], {"program": "cg", "ranks": 1}), 1.0)
    assert line == {"t": 1.0, "event": "start", "program": "cg", "ranks": 1, "hosts": ["n1"]}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({}, "event is empty; accepted is one of start, phase, result, checkpoint, stopped, restored, anew."),
        ({"event": ["start"]}, "event is 'start'; accepted is one of"),
        ({"event": "pause"}, "event is 'pause'; accepted is one of"),
        ({"event": "start", "hosts": "n1"}, "hosts is 'n1'; accepted is a list of host names."),
        ({"event": "phase", "phase": 3, "seconds": 1, "t": 1}, "phase is 3; accepted is a name of letters"),
        ({"event": "phase", "phase": "\u200b\u0007 ", "seconds": 1, "t": 1}, "phase is "),
        ({"event": "phase", "phase": "x", "seconds": -1, "t": 1}, "seconds is -1; accepted is a number from 0 to"),
        ({"event": "phase", "phase": "x", "seconds": True, "t": 1}, "seconds is true; accepted is a number"),
        ({"event": "phase", "phase": "x", "seconds": 1, "t": 1e300}, "t is 1e+300; accepted is a time"),
    ],
)
def test_a_line_that_says_nothing_is_told_by_field_value_and_what_is_accepted(line: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        progress_events.read(line)
    assert str(caught.value).startswith(said)


def test_one_more_type_is_one_more_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_events, "EVENTS", dict(EVENTS))

    @progress_events.event
    @dataclass(frozen=True, slots=True)
    class Pause:
        WORD: ClassVar[str] = "pause"
        FIELDS: ClassVar[Mapping[str, str]] = {"why": "a word"}

        why: str

        @classmethod
        def read(cls, line: Mapping[str, Any]) -> Self:
            return cls(str(line.get("why")))

        def fields(self) -> dict[str, object]:
            return {"why": self.why}

    lines = [Pause("lunch"), Phase("x", 1.0), Pause("tea")]
    data = b"".join(json.dumps(progress_events.written(each, 5.0)).encode() + b"\n" for each in lines)
    found = progress.read(data)
    assert (list(found.of(Pause)), len(found.phases), found.garbage) == ([Pause("lunch"), Pause("tea")], 1, 0)
    with pytest.raises(ValueError, match="The event pause is there already: Pause"):
        progress_events.event(Pause)


def test_the_handbook_lists_every_event_and_every_field() -> None:
    rows = [f"| `{word}` | `{name}` | {what} |" for word, kind in EVENTS.items() for name, what in kind.FIELDS.items()]
    table = "\n".join(["| event | field | holds |", "|---|---|---|", *rows])
    assert f"\n{table}\n\n" in DOCS.read_text(encoding="utf-8")


def test_the_fields_that_are_described_are_those_that_are_written() -> None:
    of_checkpoints = [CheckpointWritten(1, 0.5), Stopped(1, 0.5), Restored(1, 0.5), StartsAnew()]
    whole = [Start(["n1"]), Phase("x", 1.0, 1, 2, 0.5, 0.5), Result(True, 1.0, {}), *of_checkpoints]
    assert [set(each.fields()) for each in whole] == [set(kind.FIELDS) for kind in EVENTS.values()]


def test_who_reads_or_writes_an_event_needs_no_mpi() -> None:
    tree = ast.parse(Path(progress_events.__file__).read_text(encoding="utf-8"))
    names = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    names |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert {name for name in names if name.split(".")[0] not in sys.stdlib_module_names} == {
        "gridportal.base.errors",
        "gridportal.base.run_files",
    }
