"""This machine as a backend: each run has a process that watches it, and all that is known stands on disk.

So the portal may be killed at any moment, and be started anew: what it started goes on, ends when its time is over, and
is known by its key. Jobs run as the user who runs the portal, and nothing keeps them apart.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import signal as signals
import socket
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gridportal.base import processes as shell
from gridportal.base import run_directory, run_files
from gridportal.base.batch_system import BackendNode, BackendState, RunSpec, RunStatus
from gridportal.base.disk_errors import UNWRITABLE
from gridportal.base.errors import BackendError, InputError, LaterError, ShellError
from gridportal.base.reasons import NOTHING, Code, Reason, text_reason
from gridportal.local import local_environment
from gridportal.local.descendants import children, signal_oldest, signal_one
from gridportal.local.run_record import CANCELLED, LOST, Begin, End, Order, RunRecord
from gridportal.testbed import process_owners

log = logging.getLogger(__name__)
_PATIENCE = 60.0
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class LocalBackend:
    """Runs on this machine, with their records in `state_dir`. It has `slots` nodes, one for each rank that may run at
    a time; all of them are this machine, and share its processors, memory and network."""

    name = "local"
    queue = None
    forecast = None

    def __init__(self, state_dir: Path, slots: int | None = None) -> None:
        self._state_dir = state_dir.resolve()
        self._names = node_names(slots)

    def submit(self, spec: RunSpec) -> str:
        """Start `spec` unless its key was started before. Raises InputError for what cannot be started, LaterError
        where the disk is full."""
        self._check(spec)
        record = self._record(spec.key)
        try:
            if record.folder.exists() and record.begin():
                return spec.key
            run_directory.write(Path(spec.run_dir), run_files.SCRIPT, spec.script)
            record.write_order(self._order(spec))
            shell.run(_watcher(record), timeout=_PATIENCE, env=local_environment.of_watcher(), bare=True, cwd="/")
        except ShellError as error:
            raise BackendError(f"The run {spec.key} could not be started on this machine: {error}") from error
        except OSError as error:
            if error.errno in UNWRITABLE:
                raise LaterError(f"This machine has no room to note a run: {error}. It is tried again.") from error
            raise BackendError(f"{self._state_dir} cannot be written to: {error}.") from error
        return spec.key

    def poll(self, ids: Sequence[str]) -> Mapping[str, RunStatus]:
        """From the records alone. A run whose watcher is gone without a word is over, and what it left is ended."""
        with self._readable():
            return {run_id: self._status(run_id) for run_id in ids}

    def signal(self, run_id: str, signum: int) -> None:
        """Send a signal to the script of the run alone; where nobody can read who watches it, to the oldest process
        that has kept its mark."""
        try:
            number = signals.Signals(signum)
        except ValueError as error:
            raise InputError("signal", signum, "the number of a signal") from error
        with self._readable():
            begin = self._watched(run_id)
        if begin and begin.pid:
            signal_oldest(children(begin.pid), number)
        elif begin:
            signal_oldest(process_owners.of_run(self._mark(run_id)), number)

    def cancel(self, run_id: str) -> None:
        """TERM to all of it, KILL after its grace; its watcher sees to that, also one that was stopped. Where nobody
        can read who watches it, it is killed by its mark."""
        with self._readable():
            begin = self._watched(run_id)
        if begin and begin.pid:
            signal_one(begin.pid, begin.start_time, signals.SIGTERM)
            signal_one(begin.pid, begin.start_time, signals.SIGCONT)
        elif begin:
            process_owners.end_run(self._mark(run_id))

    def nodes(self) -> list[BackendNode]:
        """As many as ranks may run at a time; all are this machine."""
        return [BackendNode(name, socket.gethostname(), "127.0.0.1") for name in self._names]

    def _check(self, spec: RunSpec) -> None:
        if not spec.key or "\0" in spec.key:
            raise InputError("key", spec.key, "a name that no other run has")
        for name in spec.nodes or ("",):
            if name not in self._names:
                raise InputError("node", name, f"one of {self._names[0]} to {self._names[-1]}")
        if not Path(spec.run_dir).is_absolute() or not Path(spec.run_dir).is_dir():
            raise InputError("run_dir", spec.run_dir, "the absolute path of an existing directory")

    def _order(self, spec: RunSpec) -> Order:
        mark = self._mark(spec.key)
        argv = ("bash", f"{spec.run_dir}/{run_files.SCRIPT}")
        env = local_environment.of_run(mark, spec.run_dir)
        return Order(argv, spec.run_dir, f"{spec.run_dir}/{run_files.OUTPUT}", env, mark, spec.time_limit, spec.grace)

    def _mark(self, key: str) -> str:
        return f"{key}@{self._state_dir}"

    def _record(self, key: str) -> RunRecord:
        """By its key where that can be the name of a folder."""
        name = key if _PLAIN.fullmatch(key) else f"_{hashlib.sha256(key.encode()).hexdigest()}"
        return RunRecord(self._state_dir / "runs" / name)

    @contextlib.contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise BackendError(f"{self._state_dir} cannot be read: {error}.") from error

    def _watched(self, run_id: str) -> Begin | None:
        """The begin of a run that goes on."""
        record = self._record(run_id)
        with contextlib.suppress(FileNotFoundError):
            if record.end() is None and record.is_watched():
                return record.begin()
        return None

    def _status(self, run_id: str) -> RunStatus:
        """A watcher that the run itself has stopped goes on: the end and the limit of the run are its to see."""
        record = self._record(run_id)
        begin = record.begin()
        if begin is None:
            return RunStatus(BackendState.UNKNOWN)
        end = record.end()
        try:
            watched = end is None and record.is_watched()
        except PermissionError as error:
            log.warning("%s: nobody can tell whether the run goes on: %s", record.folder, error)
            return RunStatus(BackendState.UNKNOWN)
        if watched:
            if begin.pid:
                signal_one(begin.pid, begin.start_time, signals.SIGCONT)
            return RunStatus(BackendState.RUNNING, started_at=begin.started_at)
        end = end or record.end() or self._lost(run_id, record)
        why = _why(end)
        return RunStatus(
            BackendState.FINISHED,
            end.exit_code,
            end.signal,
            begin.started_at,
            end.ended_at,
            cause=why.code,
            facts=why.facts,
        )

    def _lost(self, run_id: str, record: RunRecord) -> End:
        """Its watcher was killed, or the machine was started anew: what has kept its mark is ended."""
        process_owners.end_run(self._mark(run_id))
        end = End(time.time(), cause=LOST)
        try:
            record.write_end(end)
        except OSError as error:
            log.warning("%s: the end of the run could not be noted: %s", record.folder, error)
        return end


def node_names(slots: int | None) -> tuple[str, ...]:
    """local-1 and so on, one for each of `slots`, or for each processor that the portal may use."""
    count = slots or len(os.sched_getaffinity(0))
    return tuple(f"local-{number}" for number in range(1, count + 1))


def _watcher(record: RunRecord) -> list[str]:
    return [sys.executable, "-m", "gridportal.local.watcher", str(record.folder)]


def _why(end: End) -> Reason:
    if end.limit is not None:
        return Reason.of(Code.OVER_TIME_LIMIT, limit=end.limit)
    codes = {CANCELLED: Code.STOPPED_THERE, LOST: Code.WATCHER_ENDED}
    return Reason.of(codes[end.cause]) if end.cause else text_reason(end.reason) if end.reason else NOTHING
