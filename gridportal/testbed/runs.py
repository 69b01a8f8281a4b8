"""The runs of a Grid: started once per key, watched, limited in time, ended as a whole wherever their ranks are."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gridportal.base import bounded_json, checked_numbers, run_directory, run_files
from gridportal.base.batch_system import GRACE
from gridportal.base.disk_errors import UNWRITABLE
from gridportal.base.errors import InputError, LaterError, ShellError
from gridportal.testbed import environment
from gridportal.testbed.logs import Logs
from gridportal.testbed.sandbox.starter import Body, Command, OnRunEnd, Starter
from gridportal.testbed.spawn import Spawner
from gridportal.testbed.state import State

log = logging.getLogger(__name__)
_MOST_MEMORY = 2**30  # MB for a rank
_MOST_CPUS = 2**16  # for a rank
_LOST = "The Grid that ran it ended before it did."


@dataclass(slots=True)
class Run:
    """One run, on `nodes` rank by rank. `exit_code` is None until it ended, and after an end by a signal. `cause`:
    cancelled, time_limit (with the `limit` in seconds), out_of_memory, lost, or empty where its program ended by itself
    or did not start; `reason` is for people.
    """

    id: str
    nodes: list[str]
    run_dir: str
    started_at: float
    owner: str = ""
    job_dir: str = ""
    grace: float = GRACE
    memory_per_rank: int | None = None
    cpus_per_rank: int = 1
    body: Body | None = None
    exit_code: int | None = None
    signal: int | None = None
    ended_at: float | None = None
    reason: str = ""
    cause: str = ""
    limit: float | None = None
    lost: bool = False
    recalled: bool = False
    timers: list[asyncio.TimerHandle] = field(default_factory=list)

    def view(self) -> dict[str, Any]:
        """The run as the outside sees it."""
        state = "unknown" if self.lost else "running" if self.ended_at is None else "finished"
        return {
            "state": state,
            "exit_code": self.exit_code,
            "signal": self.signal,
            "started_at": self.started_at,
            "ended_at": self.ended_at,
            "reason": self.reason,
            "cause": self.cause,
            "limit": self.limit,
            "nodes": self.nodes,
            "run_dir": self.run_dir,
        }


class Runs:
    """The table of runs, by key. It is kept in the state directory so that no key starts twice, even after a crash, and
    has how each ended as the kernel said. What a program writes into its run directory is never read here, nor written
    once it runs.
    """

    def __init__(
        self,
        state: State,
        spawner: Spawner,
        starter: Starter,
        logs: Logs,
        on_end: Callable[[Run], None] | None = None,
    ) -> None:
        self._state, self._spawner, self._starter, self._logs = state, spawner, starter, logs
        self._on_end = on_end
        self._runs: dict[str, Run] = {}
        self._read_table()

    def submit(
        self,
        key: str,
        script: str,
        nodes: list[str],
        run_dir: str,
        time_limit: float | None,
        owner: str = "",
        job_dir: str = "",
        grace: float = GRACE,
        memory_per_rank: int | None = None,
        cpus_per_rank: int = 1,
    ) -> str:
        """Start `script` (bash text) for `owner` on the first of `nodes`, unless the key was started before; returns
        the key. `memory_per_rank`: MB of 2**20 bytes for each of the ranks that `nodes` has on a node; None: no limit
        of its own. `cpus_per_rank`: processors of each. LaterError where a disk is full: nothing is started then."""
        if key in self._runs:
            return key
        self._check(key, nodes, run_dir, time_limit)
        checked_numbers.above_zero("grace", grace)
        if memory_per_rank is not None:
            checked_numbers.whole("memory_per_rank", memory_per_rank, 1, _MOST_MEMORY)
        checked_numbers.whole("cpus_per_rank", cpus_per_rank, 1, _MOST_CPUS)
        if job_dir:
            self._check_folder("job_dir", job_dir)
        run = Run(key, nodes, run_dir, time.time(), owner, job_dir, grace, memory_per_rank, cpus_per_rank)
        try:
            self._starter.check(owner)
            self._write_files(Path(run_dir), script, nodes)
            self._append_begin(run)
        except OSError as error:
            if error.errno in UNWRITABLE:
                raise LaterError(f"The Grid has no room to note a run: {error}. It is tried again.") from error
            raise
        self._runs[key] = run
        self._start(run)
        if time_limit and run.ended_at is None:
            self._after(run, time_limit, lambda: self._expire(run, time_limit))
        return key

    def poll(self, ids: list[str]) -> dict[str, dict[str, Any]]:
        """The state of each; a key that was never seen here is "unknown"."""
        return {key: self._runs[key].view() if key in self._runs else {"state": "unknown"} for key in ids}

    def signal(self, key: str, signum: int) -> None:
        """Send a signal to the script of a running run, which passes on what its program is to hear of."""
        try:
            number = signal.Signals(signum)
        except ValueError as error:
            raise InputError("signal", signum, "the number of a signal") from error
        if body := self._running(key):
            body.signal_first(number)

    def cancel(self, key: str) -> None:
        """TERM to all of it, KILL after its grace. Nothing happens to a run that has ended."""
        self._stop(key, "cancelled", "cancelled")

    def _stop(self, key: str, cause: str, reason: str, limit: float | None = None) -> None:
        run, body = self._runs.get(key), self._running(key)
        if run is None or body is None:
            return
        if not run.cause:
            run.cause, run.reason, run.limit = cause, reason, limit
        body.signal(signal.SIGTERM)
        self._after(run, run.grace, body.end)

    def end_all(self) -> None:
        """Kill every run: for a Grid without a PID namespace that goes down."""
        for key in list(self._runs):
            if body := self._running(key):
                body.end()

    def views(self) -> list[dict[str, Any]]:
        """All runs of this life of the Grid, oldest first."""
        return [{"id": run.id, **run.view()} for run in self._runs.values() if not run.recalled]

    def _write_files(self, folder: Path, script: str, nodes: list[str]) -> None:
        run_directory.write(folder, run_files.SCRIPT, script)
        run_directory.write(folder, run_files.HOSTS, environment.hosts(nodes))

    def _start(self, run: Run) -> None:
        folder = Path(run.run_dir)
        extra = {run_files.RUN_DIR_VARIABLE: run.run_dir, "HYDRA_HOST_FILE": str(folder / run_files.HOSTS)}
        argv = ("bash", str(folder / run_files.SCRIPT))
        asked = (run.memory_per_rank or 0) * 2**20
        ranks = Counter(run.nodes)
        memory = {node: count * asked for node, count in ranks.items() if asked}
        cpus = {node: count * run.cpus_per_rank for node, count in ranks.items()}
        command = Command(run.id, argv, tuple(run.nodes), run.run_dir, extra, run.owner, run.job_dir, memory, cpus)
        try:
            output = self._logs.open(run.id, folder / run_files.OUTPUT)
            run.body = self._starter.start(command, output, self._ended(run))
        except (OSError, ShellError) as error:
            self._logs.close(run.id)
            run.exit_code, run.ended_at, run.reason = 127, time.time(), str(error)
            self._note_end(run)

    def _running(self, key: str) -> Body | None:
        run = self._runs.get(key)
        return run.body if run and run.ended_at is None else None

    def _expire(self, run: Run, limit: float) -> None:
        self._stop(run.id, "time_limit", f"over its time limit of {limit:g} s", limit)

    def _after(self, run: Run, seconds: float, what: Callable[[], None]) -> None:
        run.timers.append(asyncio.get_running_loop().call_later(seconds, what))

    def _ended(self, run: Run) -> OnRunEnd:
        def note(status: int, reason: str, cause: str) -> None:
            for timer in run.timers:
                timer.cancel()
            run.reason, run.cause = run.reason or reason, run.cause or cause
            code = os.waitstatus_to_exitcode(status)
            run.exit_code, run.signal = (code, None) if code >= 0 else (None, -code)
            run.ended_at = time.time()
            self._logs.close(run.id)
            self._note_end(run)
            if self._on_end:
                self._on_end(run)

        return note

    def _note_end(self, run: Run) -> None:
        """How it ended, into the table; the daemon goes on where its disk is full, and knows it until it ends."""
        end: dict[str, object] = {"exit_code": run.exit_code, "signal": run.signal, "ended_at": run.ended_at}
        end |= {"reason": run.reason, "cause": run.cause, "limit": run.limit}
        try:
            self._append({"id": run.id, "end": end})
        except OSError as error:
            log.error("the end of %s could not be kept: %s", run.id, error)

    def _check(self, key: str, nodes: list[str], run_dir: str, time_limit: float | None) -> None:
        if not key or "\0" in key:
            raise InputError("key", key, "a name that no other run has")
        if not nodes:
            raise InputError("nodes", nodes, "at least one node")
        for name in nodes:
            self._spawner.check(name)
        self._check_folder("run_dir", run_dir)
        if time_limit is not None:
            checked_numbers.above_zero("time_limit", time_limit)

    def _check_folder(self, field: str, folder: str) -> None:
        """What is in it will belong to the run."""
        if not Path(folder).is_absolute() or not Path(folder).is_dir():
            raise InputError(field, folder, "the absolute path of an existing directory")
        if self._state.root.is_relative_to(Path(folder).resolve()):
            raise InputError(field, folder, "a directory without the Grid's own state in it")

    def _append_begin(self, run: Run) -> None:
        about = {"nodes": run.nodes, "run_dir": run.run_dir, "started_at": run.started_at, "owner": run.owner}
        self._append({"id": run.id, **about})

    def _append(self, entry: dict[str, Any]) -> None:
        """Each line begins with the end of the one before, which a crash may have cut."""
        with self._state.runs.open("a", encoding="utf-8") as table:
            table.write("\n" + json.dumps(entry))

    def _read_table(self) -> None:
        """What earlier lives of the Grid left: runs that ended, and those of which no end is known."""
        if not self._state.runs.exists():
            return
        with self._state.runs.open(encoding="utf-8", errors="replace") as table:
            for line in table:
                self._recall(line)

    def _recall(self, line: str) -> None:
        try:
            entry = bounded_json.loads(line)
            if "end" in entry:
                run = self._runs[entry["id"]]
                run.exit_code, run.signal = entry["end"]["exit_code"], entry["end"]["signal"]
                run.ended_at, run.reason = entry["end"]["ended_at"], entry["end"]["reason"]
                run.cause, run.limit = entry["end"].get("cause", ""), entry["end"].get("limit")
                run.lost = False
            else:
                self._runs[entry["id"]] = Run(**entry, recalled=True, lost=True, reason=_LOST, cause="lost")
        except (ValueError, TypeError, KeyError):
            if line.strip():
                log.warning("a line of %s cannot be read", self._state.runs)
