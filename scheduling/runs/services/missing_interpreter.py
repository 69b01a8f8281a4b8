"""A script whose interpreter is missing: the system says of it that the script does not exist."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from gridportal.base.reasons import Code, Reason
from scheduling.jobs.core.last_messages import NO_FILE, NO_INTERPRETER
from scheduling.runs.models import Run

_LONGEST = 256  # bytes of a first line that the system reads


def with_interpreter(run: Run, reason: Reason) -> Reason:
    """The reason why a run failed, with the interpreter that its program names and that is missing; the same reason
    where it is another one, or the portal does not see the file. Only the job's own program is looked at: its log may
    name any file."""
    facts = reason.facts
    if reason.code is not Code.NO_PROGRAM or facts["error"] != NO_FILE:
        return reason
    program, folder = str(facts["program"]), Path(run.run_dir)
    path = folder / program
    if program not in run.job.application.command and not _lies_in(folder, path):
        return reason
    interpreter = interpreter_of(path)
    if not interpreter.startswith("/") or Path(interpreter).exists():
        return reason
    return Reason.of(Code.NO_PROGRAM, program=program, error=f"{NO_INTERPRETER}{interpreter}", nodes=facts["nodes"])


def _lies_in(folder: Path, path: Path) -> bool:
    try:
        return path.resolve().parent == folder.resolve()
    except (OSError, ValueError, RuntimeError):  # also a null character, and links in a circle
        return False


def interpreter_of(path: Path) -> str:
    """What the first line of a script names after #!; empty for another file, and for one that cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        begin = os.read(file, _LONGEST) if stat.S_ISREG(os.fstat(file).st_mode) else b""
    except OSError:
        return ""
    finally:
        os.close(file)
    words = begin[2:].split(b"\n")[0].split() if begin.startswith(b"#!") else []
    return words[0].decode(errors="replace") if words else ""
