"""Starts runs for the daemon: kept apart where this machine permits it, else as plain processes with a mark."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from gridportal.base import run_files
from gridportal.base.errors import BackendError, GridPortalError, ShellError
from gridportal.testbed import environment, process_owners, waiting_ranks
from gridportal.testbed.node_limits import NO_LIMITS, NodeLimits
from gridportal.testbed.node_processors import NO_PROCESSORS, NodeProcessors
from gridportal.testbed.run_groups import RunGroups, RunLimits
from gridportal.testbed.sandbox import identity, job_rules, keeper, node_launcher, seccomp
from gridportal.testbed.sandbox.identity import Identities
from gridportal.testbed.sandbox.level import OPEN_KEYS, SHARED_NETWORK, Isolation
from gridportal.testbed.sandbox.order import DOOR, ONE, Identity, Limits, Order, Place, Shown
from gridportal.testbed.spawn import Spawner
from gridportal.testbed.state import State

_TRIAL = "import gridportal.runtime.phases"
_PATIENCE = 30.0
OUT_OF_MEMORY = "out_of_memory"  # the cause of an end
_ASKED = "A process of it was ended: the run needed more memory on a node than it had asked for."
_MEMORY = "A process of it was ended: jobs may take {gib:.3g} GiB of memory on a node, and this one needed more."


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run for `owner` on `nodes` (on the first; its launcher reaches the others), in `folder`.

    `memory`: bytes that it may take on each node, where it asked for some; `processors`: of each node.
    `shared`: another folder that it may fill, which runs of its owner's before and after it have, too; empty for none.
    """

    key: str
    argv: tuple[str, ...]
    nodes: tuple[str, ...]
    folder: str
    env: Mapping[str, str]
    owner: str = ""
    shared: str = ""
    memory: Mapping[str, int] = field(default_factory=dict)
    processors: Mapping[str, int] = field(default_factory=dict)


class Body(Protocol):
    """What runs."""

    def signal(self, signum: int) -> None:
        """Send `signum` to all of its processes."""

    def signal_first(self, signum: int) -> None:
        """Send `signum` to the command itself, and to nothing that it has started."""

    def end(self) -> None:
        """Kill all of them."""


OnEnd = Callable[[int, str], None]
#: The wait status, why in a sentence, and the cause as one word; '' for the program's own end.
OnRunEnd = Callable[[int, str, str], None]


class Marked:
    """Processes that are found by a mark in their environment, where there is nothing better."""

    def __init__(self, mark: str, command: subprocess.Popen[bytes]) -> None:
        self._mark, self._command = mark, command

    def signal(self, signum: int) -> None:
        """To those that have kept the mark."""
        process_owners.signal_run(self._mark, signum)

    def signal_first(self, signum: int) -> None:
        """Nothing happens once it was collected, for its number may be another's then."""
        if self._command.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._command.pid, signum)

    def end(self) -> None:
        """Until none is left."""
        process_owners.end_run(self._mark)


class Kept:
    """Processes of a PID namespace, in the hands of a keeper."""

    def __init__(self, pid: int, control: int) -> None:
        self._pid, self._control = pid, control

    def signal(self, signum: int) -> None:
        """By the first process of the namespace."""
        self._order(signum)

    def signal_first(self, signum: int) -> None:
        """By the first process of the namespace, too."""
        self._order(signum | ONE)

    def _order(self, order: int) -> None:
        with contextlib.suppress(OSError):  # it has ended
            os.write(self._control, bytes([order]))

    def end(self) -> None:
        """The first process is killed, and the kernel kills the others with it."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

    def close(self) -> None:
        """Once it is over."""
        os.close(self._control)


class _Ending:
    """The end of a run, told once: by its first process when all others are gone, or by the kernel when that is killed.

    The kernel takes the run's view of the files away only then, and that takes it longer than all else.
    """

    def __init__(self, result: int, body: Kept, door: Path, on_end: OnEnd) -> None:
        self._result, self._body, self._door = result, body, door
        self._on_end: OnEnd | None = on_end
        self._text = b""
        self._open = True
        os.set_blocking(result, False)
        asyncio.get_running_loop().add_reader(result, self._read)

    def gone(self, _status: int) -> None:
        """The keeper has ended, and with it whatever there was."""
        self._read()
        self._tell(signal.SIGKILL, "")
        self._body.close()
        shutil.rmtree(self._door, ignore_errors=True)

    def _read(self) -> None:
        if not self._open:
            return
        try:
            self._text += os.read(self._result, 65536) or b"\n"
            result = json.loads(self._text)
            self._tell(int(result["status"]), str(result["reason"]))
        except BlockingIOError:
            return
        except ValueError:
            if self._text.endswith(b"\n"):  # it was killed: the keeper will tell when all of them are gone
                self._close()

    def _tell(self, status: int, reason: str) -> None:
        self._close()
        if self._on_end is not None:
            on_end, self._on_end = self._on_end, None
            on_end(status, reason)

    def _close(self) -> None:
        if self._open:
            self._open = False
            asyncio.get_running_loop().remove_reader(self._result)
            os.close(self._result)


class Starter:
    """Starts commands of owners. `level` says how far they are kept apart, once `test` has found it out."""

    def __init__(
        self,
        state: State,
        spawner: Spawner,
        node_limits: NodeLimits = NO_LIMITS,
        processors: NodeProcessors = NO_PROCESSORS,
    ) -> None:
        self._state, self._spawner, self._node_limits = state, spawner, node_limits
        self._run_limits = RunLimits(node_limits, processors)
        self._rules = job_rules.JobRules.read(state)
        self._identities = Identities(state, self._rules)
        self._numbers = itertools.count(1)
        self._launcher: Path | None = None
        self.level = Isolation.UNTESTED
        self.problem = ""

    def view(self) -> dict[str, Any]:
        """level, message, the problem that kept it from being a better one, and the limits of jobs on a node."""
        besides = [] if self._spawner.shaped else [SHARED_NETWORK]
        besides += [OPEN_KEYS] if self.level is Isolation.OWN_VIEW and not seccomp.closes_keys() else []
        message = " ".join([self.level.message, *besides])
        limits = NO_LIMITS if self.level is Isolation.NONE else self._node_limits
        return {"level": self.level.value, "message": message, "problem": self.problem, "limits": limits.view()}

    async def test(self, node: str) -> None:
        """Find the best level that this machine permits, by a small program on `node`."""
        self._launcher = node_launcher.build(self._state.root)
        for level in (Isolation.OWN_USER, Isolation.OWN_VIEW):
            if level is Isolation.OWN_USER and self._identities.of("") is None:
                continue
            try:
                self.problem = await self._try(level, node)
            except (GridPortalError, OSError, TimeoutError) as error:
                self.problem = str(error) or type(error).__name__
            if not self.problem:
                self.level = level
                return
        self.level = Isolation.NONE

    def check(self, owner: str) -> None:
        """InputError for an owner who cannot be anybody here, BackendError before the test is over."""
        if self.level is Isolation.UNTESTED:
            raise BackendError("The Grid is still testing itself; it takes runs when that is over.")
        if self.level is Isolation.OWN_USER:
            self._identities.of(owner)

    def start(self, command: Command, output: int, on_end: OnRunEnd) -> Body:
        """Start it; what it prints goes to `output`. ShellError, OSError or InputError when that cannot be."""
        if self.level is Isolation.NONE:
            return self._plain(command, output, lambda status, reason: on_end(status, reason, ""))
        of_node = partial(self._node_limits.ended_for_memory, command.nodes)
        before, own = of_node(), self._run_limits.make(command.memory, command.processors)

        def ended(status: int, reason: str) -> None:
            cause = ""
            if status and own.was_too_little():
                reason, cause = reason or _ASKED, OUT_OF_MEMORY
            elif status and not reason and (own.ended() or of_node() > before):
                reason = _MEMORY.format(gib=self._node_limits.memory_on(command.nodes) / 2**30)
            self._run_limits.release(own)
            on_end(status, reason, cause)

        try:
            return self._kept(command, output, ended, self.level, own)
        except BaseException:
            self._run_limits.release(own)
            raise

    async def _try(self, level: Isolation, node: str) -> str:
        """What went wrong at `level`; '' when nothing did."""
        folder = Path(tempfile.mkdtemp(prefix="command-", dir=self._state.root))
        ended: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()
        command = Command("trial", (sys.executable, "-c", _TRIAL), (node,), str(folder), {})
        try:
            with (folder / run_files.OUTPUT).open("wb") as log:
                body = self._kept(command, log.fileno(), lambda *end: ended.set_result(end), level)
            try:
                status, reason = await asyncio.wait_for(asyncio.shield(ended), _PATIENCE)
            except TimeoutError:
                body.end()
                raise
            last = (folder / run_files.OUTPUT).read_text(errors="replace").strip().splitlines()[-1:]
            return reason or ("; ".join(last) or f"it ended with status {status}" if status else "")
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _plain(self, command: Command, output: int, on_end: OnEnd) -> Body:
        mark = self._spawner.mark(command.key)

        def ended(status: int) -> None:
            process_owners.end_run(mark)
            on_end(status, "")

        process = self._spawner.start(
            command.nodes[0],
            command.argv,
            command.key,
            env=command.env,
            cwd=command.folder,
            output=output,
            on_exit=ended,
        )
        return Marked(mark, process)

    def _kept(
        self, command: Command, output: int, on_end: OnEnd, level: Isolation, own: RunGroups | None = None
    ) -> Body:
        who = self._identities.of(command.owner) if level is Isolation.OWN_USER else None
        door = self._door(who)
        order = self._order(command, who, door, own or RunGroups())
        control, ours = os.pipe()
        result, theirs = os.pipe()
        try:
            if who is not None:
                _hand_over(Path(command.folder), who)
                if command.shared:
                    _hand_over(Path(command.shared), who)
            pid = keeper.fork(order, output, control, theirs)
        except OSError as error:
            for each in (ours, result):
                os.close(each)
            raise ShellError(f"The run could not be started: {error.strerror}.") from error
        finally:
            os.close(control)
            os.close(theirs)
        body = Kept(pid, ours)
        ending = _Ending(result, body, door, on_end)
        self._spawner.adopt(pid, ending.gone)
        return body

    def _order(self, command: Command, who: Identity | None, door: Path, groups: RunGroups) -> Order:
        places = {node: self._place(node, command.owner, who, groups) for node in dict.fromkeys(command.nodes)}
        shaped = self._spawner.shaped
        variables = environment.of_run(self._state, self._spawner.mark(command.key), command.nodes[0], shaped=shaped)
        launcher = Path(DOOR) / node_launcher.LAUNCHER
        env = variables | environment.mpi(launcher, shaped=shaped)
        if (library := door / self._state.waiting.name).exists():
            env |= environment.waiting(Path(DOOR) / library.name)
        env |= dict(command.env)
        env |= {"HOME": str(self._state.scratch), "TMPDIR": "/tmp"}  # noqa: S108
        env |= {"USER": who.name, "LOGNAME": who.name} if who else {}
        names = {each.name: each for each in door.iterdir() if each.name in ("passwd", "group")}
        seen = job_rules.shown(self._rules, command.folder, as_daemon=who is None)
        return Order(
            argv=command.argv,
            env=env,
            folder=command.folder,
            places=places,
            door=str(door),
            identity=who,
            limits=self._limits(who),
            hidden=job_rules.hidden(self._rules, self._state, command.folder, as_daemon=who is None),
            shown=(
                *seen,
                *([Shown(command.shared, command.shared, writable=True)] if command.shared else []),
                Shown(str(door), DOOR),
                *(Shown(str(file), f"/etc/{name}", replaces=True) for name, file in names.items()),
            ),
            own_users=not shaped and os.geteuid() != 0,
        )

    def _limits(self, who: Identity | None) -> Limits:
        """Where jobs have one user for all of them, a limit of its processes would let one job stop the others: there
        that of the nodes counts, if there is one."""
        limits = self._rules.limits
        return replace(limits, processes=0) if who is None and self._node_limits.processes else limits

    def _place(self, node: str, owner: str, who: Identity | None, of_run: RunGroups) -> Place:
        """A node with the owner's own scratch on it, and what the run may take of it."""
        namespaces, groups = self._spawner.place(node)
        own = self._state.node(node) / "of" / (str(who.uid) if who else owner.encode().hex() or "nobody")
        if not own.exists():
            own.mkdir(mode=0o700, parents=True)
            if who is not None:
                os.chown(own, who.uid, who.gid)
        return Place(namespaces, of_run.within(groups), (Shown(str(own), str(self._state.scratch), writable=True),))

    def _door(self, who: Identity | None) -> Path:
        folder = Path(tempfile.mkdtemp(prefix=f"{next(self._numbers)}-", dir=self._state.doors))
        folder.chmod(0o755)
        node_launcher.put(self._launcher, folder)
        if self._spawner.shaped:
            waiting_ranks.put(self._state, folder)
        for path, text in (identity.accounts(who) if who else {}).items():
            (folder / Path(path).name).write_text(text, encoding="utf-8", errors="surrogateescape")
        for each in folder.iterdir():
            each.chmod(0o755)
        return folder


def _hand_over(folder: Path, who: Identity) -> None:
    """Let a folder, with what the portal has put there, belong to the run. No link is followed."""
    folder.chmod(0o700)
    for each in (*folder.iterdir(), folder):
        os.chown(each, who.uid, who.gid, follow_symlinks=False)
