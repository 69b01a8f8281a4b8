"""How a program is asked to stop, as people send it and as it is kept."""

from __future__ import annotations

from typing import Any

import pytest

from gridportal.base.errors import InputError
from scheduling.jobs.core.program_request import Means, ProgramRequest


@pytest.mark.parametrize(
    ("document", "means", "words"),
    [
        ({"signal": "sigterm "}, Means.SIGNAL, ("TERM",)),
        ({"file": "a b/STOP"}, Means.FILE, ("a b/STOP",)),
        ({"command": ["talk", "--to", ""]}, Means.COMMAND, ("talk", "--to", "")),
    ],
)
def test_each_means_is_read_and_kept(document: dict[str, Any], means: Means, words: tuple[str, ...]) -> None:
    found = ProgramRequest.read(document)
    assert (found.means, found.argv) == (means, words)
    assert ProgramRequest.read(found.document()) == found


@pytest.mark.parametrize(
    ("document", "field"),
    [
        (None, "stop"),
        ({}, "stop"),
        ([], "stop"),
        ({"signal": "USR1", "file": "STOP"}, "stop"),
        ({"mail": "STOP"}, "stop"),
        ({"signal": "KILL"}, "stop.signal"),
        ({"signal": 10}, "stop.signal"),
        ({"signal": "USR1; reboot"}, "stop.signal"),
        ({"file": "/etc/passwd"}, "stop.file"),
        ({"file": "../STOP"}, "stop.file"),
        ({"file": "a/../../STOP"}, "stop.file"),
        ({"file": "."}, "stop.file"),
        ({"file": ""}, "stop.file"),
        ({"file": "-rf"}, "stop.file"),
        ({"file": "a\nb"}, "stop.file"),
        ({"file": ["STOP"]}, "stop.file"),
        ({"command": "talk"}, "stop.command"),
        ({"command": []}, "stop.command"),
        ({"command": [""]}, "stop.command"),
        ({"command": ["talk", 1]}, "stop.command"),
        ({"command": ["a\nb"]}, "stop.command"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_its_field(document: Any, field: str) -> None:
    with pytest.raises(InputError) as refused:
        ProgramRequest.read(document)
    assert refused.value.field == field
