"""What an experiment has found so far: a folder with its plan, and one line for each finished trial."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gridportal.base import atomic_file
from gridportal.base.errors import BackendError, InputError

_PLAN, _TRIALS, _RESULT, _STOP = "plan.json", "trials.jsonl", "result.json", "stop"


class Record:
    """The folder of one experiment. A line is added and flushed when a trial ends, so a killed run loses one trial.

    Raises InputError when the folder holds another experiment, BackendError when it cannot be written.
    """

    def __init__(self, folder: Path, plan: Mapping[str, Any]) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._check(dict(plan))
            self.done = self._read()
        except OSError as error:
            raise BackendError(f"The experiment's folder {folder} cannot be used: {error.strerror}.") from error

    def add(self, key: str, result: Mapping[str, Any]) -> None:
        """Write down that the trial `key` ended, and what it found."""
        line = json.dumps({"key": key, **result}, allow_nan=False)
        try:
            with (self.folder / _TRIALS).open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            raise BackendError(f"The trial {key} cannot be written to {self.folder}: {error.strerror}.") from error
        self.done[key] = dict(result)

    def write_result(self, result: Mapping[str, Any]) -> None:
        """The summary; whole or not at all."""
        _write(self.folder / _RESULT, result)

    def write_progress(self, done: int, of: int, now: str, at: float) -> None:
        """How far it is, for those who watch."""
        _write(self.folder / "progress.json", {"done": done, "of": of, "now": now, "at": at})

    @property
    def stop_wanted(self) -> bool:
        """Whether somebody put the file `stop` into the folder; taken away when an experiment begins."""
        return (self.folder / _STOP).exists()

    def forget_stop(self) -> None:
        """Begin, whatever was wanted before."""
        (self.folder / _STOP).unlink(missing_ok=True)

    def _check(self, plan: dict[str, Any]) -> None:
        path = self.folder / _PLAN
        if not path.exists():
            _write(path, plan)
            return
        there = read_json(path)
        if there is None:
            raise InputError("out", str(self.folder), f"a folder of its own: {path.name} in it is no experiment's plan")
        if there != plan:
            other = next(name for name in [*plan, *there] if plan.get(name) != there.get(name))
            raise InputError(
                "out",
                str(self.folder),
                f"a folder of its own: there is an experiment in it with {other} {there.get(other)!r}, "
                f"not {plan.get(other)!r}",
            )

    def _read(self) -> dict[str, dict[str, Any]]:
        """The trials so far; a last line that was cut off by a crash is cut off here too."""
        path = self.folder / _TRIALS
        if not path.exists():
            return {}
        text = path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if whole != text:
            os.truncate(path, len(whole))  # not written anew: a crash in the middle of that would lose them all
        done = {}
        for number, line in enumerate(whole.splitlines(), start=1):
            entry = _trial(line)
            if entry is None:
                raise BackendError(
                    f"Line {number} of {path} is no trial of an experiment; take it out, and its trial is run again."
                )
            done[entry.pop("key")] = entry
        return done


def stop(folder: Path) -> None:
    """Ask the experiment in `folder` to end after the trial it is at; it can be resumed. Without a folder none runs."""
    with contextlib.suppress(FileNotFoundError):
        (folder / _STOP).touch()


def read_trials(folder: Path) -> dict[str, dict[str, Any]]:
    """What the experiment in `folder` has found, by trial, for those who watch: nothing is written.

    Lines that are no trials are left out."""
    try:
        text = (folder / _TRIALS).read_bytes()
    except FileNotFoundError:
        return {}
    entries = [_trial(line) for line in text[: text.rfind(b"\n") + 1].splitlines()]
    return {entry.pop("key"): entry for entry in entries if entry is not None}


def read_json(path: Path) -> dict[str, Any] | None:
    """A file of the folder; None while it is not there, or holds something else."""
    try:
        return _object(path.read_bytes())
    except FileNotFoundError:
        return None


def _trial(line: bytes) -> dict[str, Any] | None:
    entry = _object(line)
    return entry if entry is not None and isinstance(entry.get("key"), str) else None


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _write(path: Path, document: Mapping[str, Any]) -> None:
    atomic_file.write(path, json.dumps(document, allow_nan=False))
