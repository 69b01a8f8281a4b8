"""A real Slurm on the Grid, inside gridd: munged and slurmctld in the fabric, one slurmd in every node's namespaces."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gridportal.base.errors import BackendError, GridPortalError, InputError
from gridportal.testbed import environment, kernel
from gridportal.testbed.layout import Layout
from gridportal.testbed.slurm import accounts, config, place, prolog
from gridportal.testbed.slurm.daemons import Daemon, command, until
from gridportal.testbed.slurm.switches import topology_conf
from gridportal.testbed.spawn import Spawner
from gridportal.testbed.state import State

ACTIONS = ("kill", "restart", "freeze", "thaw")
_LIMIT = 40.0
_EPOCH = 1_767_225_600  # 2026-01-01: one job id a second from then, so that no later Slurm gives one again
_IDS = 60_000_000


def mount(state: State) -> None:
    """Make Slurm's folder and show it at /etc/slurm, in this mount namespace: gridd's, before nodes are forked."""
    home = place.folder(state)
    home.mkdir(mode=0o755, parents=True, exist_ok=True)
    home.chmod(0o755)
    kernel.mount(str(home), config.HOME, None, kernel.MS_BIND)
    kernel.mount(str(state.hosts), "/etc/hosts", None, kernel.MS_BIND)


class Cluster:
    """The Slurm of one Grid. `members` gives the processes of a node, for its crash."""

    def __init__(
        self,
        state: State,
        layout: Layout,
        spawner: Spawner,
        members: Callable[[], Mapping[str, list[int]]],
        *,
        accounting: bool,
    ) -> None:
        self._state, self._layout, self._spawner, self._members = state, layout, spawner, members
        self._home = place.folder(state)
        self._accounting = accounting
        fabric = ["munge", "db", "dbd", "ctld"] if accounting else ["munge", "ctld"]
        self._daemons = {kind: Daemon(spawner, self._home, kind) for kind in fabric}
        self._slurmd = {node: Daemon(spawner, self._home, "slurmd", node) for node in layout.addresses}
        self._phase, self._message = "starting", "It is starting."

    def view(self) -> dict[str, Any]:
        """state (starting, up, failed), message, accounting, daemons."""
        daemons = [each.view() for each in (*self._daemons.values(), *self._slurmd.values())]
        return {
            "state": self._phase,
            "message": self._message,
            "accounting": self._accounting,
            "daemons": daemons,
        }

    async def start(self) -> None:
        """Start everything, and wait until all nodes are idle."""
        try:
            self._write_files()
            await self._start_fabric()
            for slurmd in self._slurmd.values():
                slurmd.start()
            if not await until(self._all_idle, _LIMIT):
                raise BackendError(f"Slurm's nodes were not idle within {_LIMIT:g} s; its logs are in {self._home}.")
            self._phase, self._message = "up", f"All {len(self._slurmd)} nodes are idle."
        except (GridPortalError, OSError) as error:
            self._phase, self._message = "failed", str(error)

    async def act(self, action: str, what: str, node: str | None = None) -> dict[str, Any]:
        """kill, restart, freeze or thaw one daemon, or the slurmd of `node`; `what` "node": all that runs on it."""
        if action not in ACTIONS:
            raise InputError("action", action, "one of " + ", ".join(ACTIONS))
        daemon = self._find(what, node)
        if what == "node":
            self._crash(daemon.node or "", action)
        if action == "freeze":
            daemon.send(signal.SIGSTOP)
        elif action == "thaw":
            daemon.send(signal.SIGCONT)
        else:
            await daemon.end(signal.SIGKILL if action == "kill" else signal.SIGTERM)
        if action == "restart":
            daemon.start()
        return self.view()

    def _find(self, what: str, node: str | None) -> Daemon:
        if what in ("slurmd", "node"):
            if node not in self._slurmd:
                raise InputError("node", node, "one of " + ", ".join(list(self._slurmd)[:20]))
            return self._slurmd[node]
        if what not in self._daemons:
            raise InputError("what", what, "one of " + ", ".join([*self._daemons, "slurmd", "node"]))
        return self._daemons[what]

    def _crash(self, node: str, action: str) -> None:
        """All processes of a node at once, as when it loses power (or stands still)."""
        signals = {"kill": signal.SIGKILL, "restart": signal.SIGKILL, "freeze": signal.SIGSTOP, "thaw": signal.SIGCONT}
        own = self._slurmd[node].pid
        for pid in self._members()[node]:
            if pid != own:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signals[action])

    def _write_files(self) -> None:
        first = max(1, int(time.time()) - _EPOCH) % _IDS + 1
        settings = config.SlurmSettings(accounting=self._accounting, first_job_id=first)
        self._write("slurm.conf", config.slurm_conf(self._layout, settings))
        self._write("gres.conf", config.gres_conf(self._layout))
        if tree := topology_conf(self._layout):
            self._write("topology.conf", tree)
        programs = str(Path(sys.executable).parent)
        self._write("task-prolog", prolog.task_prolog(programs, *environment.of_jobs(self._state)), 0o755)
        if self._accounting:
            self._write("slurmdbd.conf", config.slurmdbd_conf(), 0o600)
        key = self._home / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(128))
        for name in ("state", "gres", *(f"spool-{node}" for node in self._slurmd)):
            (self._home / name).mkdir(mode=0o755, exist_ok=True)
        for name in config.gres_files(self._layout):
            (self._home / "gres" / name).touch()

    def _write(self, name: str, text: str, mode: int = 0o644) -> None:
        file = self._home / name
        file.write_text(text, encoding="utf-8")
        file.chmod(mode)

    async def _start_fabric(self) -> None:
        self._daemons["munge"].start()
        if not await until(self._munge_listens, 10):
            raise BackendError(f"munged did not start: {self._daemons['munge'].why()}.")
        if self._accounting:
            await accounts.start(self._spawner, self._home, self._daemons["db"], self._daemons["dbd"])
        self._daemons["ctld"].start()

    async def _munge_listens(self) -> bool:
        return (self._home / "munge.sock").exists()

    async def _all_idle(self) -> bool:
        for daemon in (self._daemons["ctld"], *self._slurmd.values()):
            if daemon.pid is None:
                raise BackendError(f"{daemon.name} of Slurm ended: {daemon.why()}.")
        argv = ["sinfo", "--noheader", "--Node", "--partition=grid", "--format=%T"]
        code, output = await command(self._spawner, self._home, argv, 5.0)
        return code == 0 and output.split() == ["idle"] * len(self._slurmd)
