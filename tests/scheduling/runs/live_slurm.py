"""A live Slurm with accounts on the emulated Grid for tests of the portal's services, in this process."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gridportal.base import processes as shell
from gridportal.slurm.translation import fault
from gridportal.testbed.client import Grid
from scheduling import tasks
from scheduling.jobs.models import Application, Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.messages import message
from scheduling.placing.services import following, submission
from scheduling.runs.models import Run
from tests.waiting import looks

NODES = ("m1", "m2", "m3", "m4", "m5", "m6")
#: What every program of these tests prints first: its rank and the node that the rank runs on.
HELLO = "echo rank $PMI_RANK on $(hostname); "


def topology(folder: Path) -> Path:
    """Six nodes under two switches; two of them have something to count."""
    nodes: list[dict[str, Any]] = [
        {"id": name, "site": "left" if at < 3 else "right", **({"gres": "gpu:2"} if at > 3 else {})}
        for at, name in enumerate(NODES)
    ]
    switches = [{"id": "left-switch", "kind": "network"}, {"id": "right-switch", "kind": "network"}]
    links = [{"source": node["id"], "target": f"{node['site']}-switch", "capacity": 1e8} for node in nodes]
    links.append({"source": "left-switch", "target": "right-switch", "capacity": 2e7})
    file = folder / "six.json"
    file.write_text(json.dumps({"directed": False, "nodes": nodes + switches, "links": links}), encoding="utf-8")
    return file


class LiveSlurm:
    """Slurm's commands, and the portal's steps with jobs on it."""

    def __init__(self, grid: Grid, state: Path) -> None:
        info = grid.slurm_info()
        assert info is not None
        self.grid, self.state, self.prefix = grid, state, list(info["prefix"])
        self.work = state / "work"
        self.work.mkdir(exist_ok=True)

    def ask(self, *argv: str, stdin: str | None = None) -> str:
        """What a command of Slurm's says; it must succeed, though not at once where Slurm itself is too busy.

        An sbatch is not repeated: it may have been heard.
        """
        end = time.monotonic() + 60.0
        while True:
            done = shell.run([*self.prefix, *argv], timeout=60, check=False, stdin=stdin)
            if done.returncode == 0:
                return done.stdout.strip()
            busy = argv[0] != "sbatch" and fault(done.stderr) and time.monotonic() < end
            assert busy, f"{argv}: {done.stderr or done.stdout}"

    def ask_until_done(self, *argv: str) -> None:
        """A command that Slurm refuses for as long as its accounts are behind, as to delete who has only just run."""

        def done() -> bool:
            return shell.run([*self.prefix, *argv], timeout=60, check=False).returncode == 0

        self.until(done, " ".join(argv))

    def resume(self, node: str) -> None:
        """Have Slurm give this node jobs again, and wait until it does; it may do so by itself, and then refuses."""
        state = ("sinfo", "--noheader", f"--nodes={node}", "--partition=grid", "--format=%T")
        update = ("scontrol", "update", f"NodeName={node}", "State=RESUME")

        def usable() -> bool:
            shell.run([*self.prefix, *update], timeout=60, check=False)
            return self.ask(*state) in ("idle", "mixed", "allocated")

        self.until(usable, f"{node} to take jobs")

    def sbatch(self, body: str, *options: str) -> str:
        """The number of somebody else's job, about which the portal knows nothing."""
        script = body if body.startswith("#!") else f"#!/bin/bash\n{body}\n"
        chdir = ("--parsable", f"--chdir={self.work}", f"--output={self.work}/%j.log")
        return self.ask("sbatch", *chdir, *options, stdin=script).split(";")[0]

    def set_conf(self, **settings: Any) -> None:
        """Change lines of slurm.conf and have them read."""
        conf = self.state / "slurm" / "slurm.conf"
        text = conf.read_text(encoding="utf-8")
        for name, value in settings.items():
            text, count = re.subn(rf"(?m)^{name}=.*$", f"{name}={value}", text)
            assert count == 1, name
        conf.write_text(text, encoding="utf-8")
        self.ask("scontrol", "reconfigure")

    def until(self, condition: Callable[[], Any], what: str, seconds: float = 60.0) -> Any:
        """The first true answer."""
        for _ in looks(seconds):
            if answer := condition():
                return answer
        raise AssertionError(f"waited {seconds:g} s in vain for {what}: {self.ask('squeue', '--states=all')}")

    def saved(self, job: str) -> None:
        """Wait until slurmctld has written down what it knows of a job by now, which it does every five seconds.

        A mark on the job tells: the file alone may be newer than now, and what it says older.
        """
        mark, file = f"saved-{time.time_ns()}", self.state / "slurm" / "state" / "job_state"
        self.ask("scontrol", "update", f"JobId={job}", f"AdminComment={mark}")
        self.until(lambda: file.exists() and mark.encode() in file.read_bytes(), "slurmctld to save its state")

    def until_exists(self, file: Path, seconds: float = 60.0) -> None:
        """Wait for a file, without asking Slurm anything."""
        end = time.monotonic() + seconds
        while not file.exists():
            assert time.monotonic() < end, f"waited {seconds:g} s in vain for {file.name}"
            time.sleep(0.1)

    def submit(self, owner: Any, body: str, nodes: int = 2, **asking: Any) -> Job:
        """A job of a program that prints where its ranks run and then does `body`, placed and handed over."""
        job = self.accept(owner, body, nodes, **asking)
        tasks.place_jobs(job.cluster)
        job.refresh_from_db()
        return job

    def accept(self, owner: Any, body: str, nodes: int = 2, **asking: Any) -> Job:
        """The same, only written down."""
        return submission.submit_job(owner, self.request(body, nodes, **asking))

    def request(self, body: str, nodes: int = 2, **asking: Any) -> JobSpec:
        """What is asked for."""
        application, _ = Application.objects.update_or_create(
            slug="shell",
            defaults={
                "name": "Shell",
                "command": ["bash", "-c", HELLO + body],
                "pattern": "ring",
                "launcher": [str(Path(sys.executable).parent / "mpiexec"), "-n", "{ranks}", "-hosts", "{hosts}"],
            },
        )
        return JobSpec(application, {}, nodes, cluster="hpc", time_limit=600).with_changes(asking)

    def follow(self, job: Job, state: str, seconds: float = 60.0) -> Job:
        """Poll as beat does until the job is in `state`."""

        def reached() -> bool:
            following.poll_runs()
            job.refresh_from_db()
            return job.state == state

        try:
            self.until(reached, f"job {job.pk} to be {state}", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {job.state}: {message(job.reason)}") from error
        return job

    def run(self, job: Job) -> Run:
        """Its last run."""
        run = job.runs.order_by("-number").first()
        assert run is not None
        return run

    def number(self, job: Job) -> str:
        """Slurm's number of its last run."""
        return self.run(job).backend_id

    def hosts(self, job: Job) -> list[list[str]]:
        """The nodes that the ranks printed, in rank order, once for each time that all of them began."""
        text = Path(self.run(job).run_dir, "output.log").read_text(encoding="utf-8", errors="replace")
        attempts: list[dict[int, str]] = [{}]
        for rank, host in re.findall(r"^rank (\d+) on (\S+)$", text, re.MULTILINE):
            if int(rank) in attempts[-1]:
                attempts.append({})
            attempts[-1][int(rank)] = host
        return [[found[rank] for rank in sorted(found)] for found in attempts if found]
