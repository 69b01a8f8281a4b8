"""Starts processes inside nodes, and tells whoever started one when it ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from gridportal.base import processes as shell
from gridportal.base.errors import InputError, ShellError
from gridportal.testbed import cgroups, environment, kernel
from gridportal.testbed.sandbox import keyring
from gridportal.testbed.state import State

_DYING = 1.0  # seconds that are waited for what was killed


class Spawner:
    """Starts programs on nodes. gridd is the first process of its namespace: it reaps everything, orphans too."""

    def __init__(
        self,
        state: State,
        nodes: Sequence[str],
        namespaces: Mapping[str, Mapping[str, int]],
        groups: Mapping[str, Path],
        limited: Mapping[str, tuple[Path, ...]] | None = None,
    ) -> None:
        self._state = state
        self._nodes = tuple(nodes)
        self._namespaces = namespaces
        self._groups = groups
        self._limited = limited or {}
        self._waiting: dict[int, tuple[subprocess.Popen[bytes] | None, Callable[[int], None]]] = {}

    @property
    def shaped(self) -> bool:
        """Whether nodes have namespaces of their own."""
        return bool(self._namespaces)

    def check(self, node: str) -> None:
        """InputError unless `node` is a compute node of this Grid."""
        if node not in self._nodes:
            raise InputError("node", node, "one of " + ", ".join(self._nodes[:20]))

    def mark(self, key: str) -> str:
        """What the environment of every process of the run `key` says."""
        return f"{key}@{self._state.root}"

    def place(self, node: str) -> tuple[Mapping[str, int], tuple[Path, ...]]:
        """The namespaces of `node` by kind, and its control groups for jobs; nothing of either where it has none."""
        shares = (self._groups[node],) if node in self._groups else ()
        return self._namespaces.get(node, {}), tuple(dict.fromkeys((*shares, *self._limited.get(node, ()))))

    def adopt(self, pid: int, on_exit: Callable[[int], None]) -> None:
        """Let `on_exit` know the wait status of a child that somebody else has forked."""
        self._waiting[pid] = (None, on_exit)

    def start(
        self,
        node: str | None,
        argv: Sequence[str],
        key: str,
        *,
        env: Mapping[str, str] | None = None,
        cwd: str = "/",
        stdin: int = subprocess.DEVNULL,
        output: int = subprocess.DEVNULL,
        keep: Sequence[int] = (),
        limited: bool = True,
        group: Path | None = None,
        on_exit: Callable[[int], None],
    ) -> subprocess.Popen[bytes]:
        """Start `argv` on `node` (None: in the fabric); `on_exit` gets its wait status.

        The descriptors `keep` stay open in it; `limited`: it has to do with the node's share of the processor, or
        with that of `group`, a control group below the node's. Raises ShellError when it cannot be started.
        """
        if node is not None:
            self.check(node)
        variables = environment.of_run(self._state, self.mark(key), node or "", shaped=self.shaped) | dict(env or {})
        try:
            process = subprocess.Popen(
                list(argv),
                stdin=stdin,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=variables,
                preexec_fn=lambda: self._enter(node, cwd, group or self._groups.get(node or "") if limited else None),
                pass_fds=tuple(keep),
                start_new_session=True,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise ShellError(f"{argv[0]} could not be started on {node or 'the fabric'}: {error}.") from error
        self._waiting[process.pid] = (process, on_exit)
        return process

    async def run(self, argv: Sequence[str], timeout: float, stdin: str = "") -> tuple[int, str]:
        """Run `argv` in the fabric to its end, while others are answered; its exit code and what it printed.

        Not shell.run in a thread: `reap` may be first to collect that process, and its exit code is lost then. Raises
        ShellError when it cannot be started, TooSlowError after `timeout` seconds; it is killed then, and when nobody
        waits any more.
        """
        ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        with _memory(stdin) as given, _memory() as printed:
            streams = (given.fileno(), printed.fileno())
            process = self.start(None, argv, "tool", stdin=streams[0], output=streams[1], on_exit=ended.set_result)
            try:
                status = await asyncio.wait_for(asyncio.shield(ended), timeout)
            except TimeoutError as error:
                raise shell.TooSlowError(argv[0], timeout, _text(printed)) from error
            finally:
                await _end(process.pid, ended)
            return os.waitstatus_to_exitcode(status), _text(printed)

    def expect(self, pid: int, on_exit: Callable[[int], None]) -> None:
        """Tell `on_exit` when a child ends that somebody else has forked."""
        self._waiting[pid] = (None, on_exit)

    def reap(self) -> None:
        """Collect every child that has ended. Call it when SIGCHLD arrives, never from a thread."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid in self._waiting:
                    process, on_exit = self._waiting.pop(pid)
                    if process is not None:
                        process.returncode = os.waitstatus_to_exitcode(status)
                    on_exit(status)

    def _enter(self, node: str | None, cwd: str, group: Path | None) -> None:
        shell.reset_signals()
        kernel.die_with_parent(signal.SIGKILL)
        with contextlib.suppress(OSError):  # where that cannot be, the Grid says that nothing is kept from jobs
            keyring.join_own()
        if group is not None:
            with contextlib.suppress(OSError):
                cgroups.join(group)
        if node is not None and node in self._namespaces:
            kernel.enter(self._namespaces[node])
        os.chdir(cwd)


def _memory(text: str = "") -> IO[bytes]:
    """A file in memory that is read from its beginning."""
    file = open(os.memfd_create("gridportal"), "w+b")  # noqa: SIM115 (the caller closes it)
    file.write(text.encode())
    file.seek(0)
    return file


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


async def _end(group: int, ended: asyncio.Future[int]) -> None:
    """Kill what has not ended yet, and let it be gone before anybody does its work anew."""
    if not ended.done():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
        await asyncio.wait({ended}, timeout=_DYING)
