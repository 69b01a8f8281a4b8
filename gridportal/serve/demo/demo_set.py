"""`gridportal demo`: broker, emulated Grid, web, worker and beat on this machine, and one job all the way through."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.db import DatabaseError
from rich.console import Console
from rich.text import Text

from gridportal.base import checked_numbers, home
from gridportal.base.errors import BackendError, InputError
from gridportal.base.portal_settings import PortalSettings
from gridportal.network import topology_files
from gridportal.serve import stopping
from gridportal.serve.broker import check as check_broker
from gridportal.serve.demo import demo_list
from gridportal.serve.demo.choices import CLASSES, JOB_NODES
from gridportal.serve.portal_set import PortalSet
from gridportal.serve.prepare import prepare
from gridportal.serve.supervisor import Process
from gridportal.testbed import generators, stream_model, topologies
from gridportal.testbed.layout import shared_paths

if TYPE_CHECKING:
    from scheduling.jobs.models import Job

_JOB_SECONDS = 150.0


@dataclass
class Demo:
    """The demo's set. `run()` returns the exit code."""

    port: int
    topology: str
    klass: str
    streams: int | None  # None: as many as fit the size of the network
    once: bool
    as_json: bool
    settings: PortalSettings = field(default_factory=PortalSettings)

    def __post_init__(self) -> None:
        self.console = Console(stderr=self.as_json, soft_wrap=True, highlight=False)
        self.set = PortalSet(self.settings, self.console)
        self.addresses: dict[str, str] = {}
        self.people: list[tuple[str, str, str]] = []
        self.grid = Process("grid", [])
        self.disturbed: subprocess.Popen[bytes] | None = None  # the Grid's process when it got its traffic

    def run(self) -> int:
        """Start everything, run the job, tell its story; stay until stopped unless `once`."""
        self._check()
        stopping.listen()
        with home.only_one(self.settings.home) as lock:
            try:
                self._start()
                home.announce(lock, self._address(), self.addresses)
                verified = self._run_job()
                if self.once:
                    return 0 if verified else 1
                self._invite()
                self.set.stay(self._disturb)
            except stopping.Stopped:
                self.set.say_stopping(ends_grid=True)
                return 130 if self.once else 0
            finally:
                self.set.end()
        return 0

    def _check(self) -> None:
        """Everything that was asked for, before anything is started."""
        if not 1024 <= self.port <= 65535:
            raise InputError("port", self.port, "a number from 1024 to 65535")
        if self.klass not in CLASSES:
            raise InputError("class", self.klass, f"one of {', '.join(CLASSES)}")
        if self.streams is not None:
            checked_numbers.whole("streams", self.streams, 0, generators.MOST_STREAMS)
        self.topology = topologies.checked(self.topology, nodes=JOB_NODES)
        if home.is_production(self.settings.home):
            where = str(self.settings.home)
            raise InputError("GRIDPORTAL_HOME", where, "a folder in which `gridportal serve` keeps no data")

    def _start(self) -> None:
        self._start_servers()
        self._say("Preparing the database")
        self._prepare()
        self.port = _free_port(self.port, self._say)
        web, *others = demo_list.portal(self.set, self.port)
        self.set.start([web, *others])
        self.set.wait(self.grid)
        self._disturb()
        self._say(
            f"The pages will be at {self._address()}; see {self.set.supervisor.log(web.name)} if they do not come"
        )
        self.set.wait(web)

    def _start_servers(self) -> None:
        broker = demo_list.broker(self.set)
        if self.settings.redis_url:
            check_broker(self.settings.redis_url)
        elif broker is None:
            self._say("No Redis or Valkey here: tasks go through files instead, a little slower.")
        self.addresses = {"REDIS_URL": broker.url} if broker else {}
        os.environ.update(self.addresses)
        servers = demo_list.servers(self.set, broker, self.topology)
        self.grid = servers[-1]
        self.set.start(servers)

    def _prepare(self) -> None:
        prepare()
        from gridportal.accounts.services import ensure_demo_people

        self.people = list(ensure_demo_people())

    def _disturb(self) -> None:
        """Start other people's traffic, once for each Grid: one that was started again has none."""
        from gridportal.testbed.client import Grid

        streams = self._streams()
        if not streams or self.disturbed is self.grid.popen or not self.grid.is_alive:
            return
        grid = Grid(self.settings.grid_state_dir)
        try:
            status = grid.status()
            if status["self_test"]["state"] == "pending":  # which traffic would spoil
                return
            is_shaped = status["mode"] != "unshaped"
            if is_shaped:
                grid.traffic(seed=1, streams=streams)
        except BackendError:  # it is still coming up
            return
        self.disturbed = self.grid.popen
        if is_shaped:
            self._say(f"{streams} streams of other people's traffic share the network")

    def _streams(self) -> int:
        """Those that were asked for, else as many as leave the job a choice."""
        if self.streams is not None:
            return self.streams
        return stream_model.usual_streams(len(shared_paths(topology_files.load(topologies.find(self.topology)))))

    def _run_job(self) -> bool:
        from gridportal.serve.demo.job import submit_demo_job
        from gridportal.serve.demo.story import show, tell

        job = submit_demo_job(self.klass)
        self._say(
            f"Submitted job {job.pk}: NAS CG class {self.klass} on {JOB_NODES} nodes, {self._address()}/jobs/{job.pk}/"
        )
        job = self._follow(job)
        story = tell(job)
        if self.as_json:
            json.dump(story, sys.stdout, indent=2)
            sys.stdout.write("\n")
        else:
            show(story, self.console)
        self._say(f"Done {time.monotonic() - self.set.begun:.1f} s after the start.")
        return bool(story["verified"]) and story["state"] == "succeeded"

    def _follow(self, job: Job) -> Job:
        from scheduling.messages import message

        until = time.monotonic() + _JOB_SECONDS
        seen = ""
        while time.monotonic() < until:
            try:
                job.refresh_from_db()
            except DatabaseError as error:
                self._say(f"The database does not answer: {error}")
            if job.state != seen:
                seen = job.state
                self._say(f"  job {job.pk} is {seen}{': ' + message(job.reason) if job.reason else ''}")
            if job.is_final:
                return job
            self.set.look()
            self._disturb()
            time.sleep(0.2)
        return job

    def _invite(self) -> None:
        self.console.print("\nGridPortal is at", Text(self._address(), style="bold"), " (Ctrl-C stops everything)")
        for username, password, role in self.people:
            self.console.print(f"  {role:<14} {username:<10} {password}", markup=False)

    def _address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _say(self, message: str) -> None:
        self.set.say(message)


def _free_port(wanted: int, say: Callable[[str], None]) -> int:
    """`wanted`, or the next free one on loopback; says so when it had to move on."""
    for port in range(wanted, min(wanted + 100, 65536)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port != wanted:
            say(f"Port {wanted} is taken; using {port}.")
        return port
    raise InputError("port", wanted, "a port with a free one among the hundred after it")
