"""A portal of its own for a test: home, database and Grid; each worker step is a process that can be killed."""

from __future__ import annotations

import json
import os
import signal
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests import migrated
from tests.waiting import looks
from tests.warm_python import WarmPython

_START = """
import os, signal, sys, json, importlib
import django
django.setup()
from scheduling import tasks
from scheduling.jobs.services import job_spec, registering
from scheduling.placing.services import placing, rounds, submission
from scheduling.placing.selectors import occupancy
from scheduling.runs import selectors as run_selectors
from scheduling.runs.services import queue_actions
from scheduling.messages import message, messages
from scheduling.models import Application, Job, JobEvent, Run
from gridportal.accounts.models import User
from tests.waiting import looks

def kill_at(place):
    module, name, when = place.split(":")
    owner = importlib.import_module(module)
    real = getattr(owner, name)
    def killed(*args, **options):
        if when == "after":
            real(*args, **options)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(owner, name, killed)

from django.db import connections
connections.close_all()
"""
_EACH = """
if os.environ.get("KILL_AT"):
    kill_at(os.environ["KILL_AT"])
"""


#: A worker that is killed is noticed soon; one sweep over the network serves for all jobs, unless one has ended since.
SETTINGS = {"GRIDPORTAL_LEASE_SECONDS": "1", "GRIDPORTAL_MEASURE_MAX_AGE": "1000000"}


class Portal:
    """`run(code)` executes Python in a worker process of its own and returns what it printed as JSON."""

    def __init__(
        self,
        home: Path,
        grid: Path,
        database: str = "",
        clusters: list[dict[str, Any]] | None = None,
        inside: Sequence[str] = (),
    ) -> None:
        """`inside`: a prefix behind which its processes run, with an environment of their own."""
        settings = {"GRIDPORTAL_HOME": str(home), "GRIDPORTAL_GRID_DIR": str(grid), **SETTINGS}
        self._env = {**os.environ, **settings, "DJANGO_SETTINGS_MODULE": "gridportal.settings", "REDIS_URL": ""}
        self._env["DATABASE_URL"] = database
        self.home, self.grid = home, grid
        self._env["GRIDPORTAL_CLUSTERS"] = json.dumps(clusters) if clusters else ""
        self._argv = [sys.executable]
        if inside:
            names = (*settings, "DJANGO_SETTINGS_MODULE", "REDIS_URL", "DATABASE_URL", "GRIDPORTAL_CLUSTERS")
            self._argv = [*inside, "env", *(f"{name}={self._env[name]}" for name in names), sys.executable]
        if not database:
            migrated.put_into(home)
        self._workers = WarmPython(self._argv, _START, self._env)
        if database:
            self.run("from gridportal.database import portal_tables; portal_tables.bring_up_to_date()")
        self.run("User.objects.create_user('ada'); registering.install_catalogue()")

    def run(self, code: str, kill_at: str = "") -> Any:
        """The worker's answer; None when it was killed, as `kill_at` ("module:function:before|after") asks for."""
        return self._answer(self._start(code, kill_at), killed=bool(kill_at))

    def run_at_once(self, *codes: str) -> list[Any]:
        """Each piece of code in a process of its own, all at the same time."""
        return [self._answer(worker) for worker in [self._start(code) for code in codes]]

    def _start(self, code: str, kill_at: str = "") -> int:
        return self._warm_python().start(_EACH + textwrap.dedent(code), KILL_AT=kill_at)

    def _answer(self, worker: int, *, killed: bool = False) -> Any:
        ended = self._warm_python().end(worker)
        if killed:
            assert ended.returncode == -signal.SIGKILL, "it did not come to where it should be killed"
            return None
        assert ended.returncode == 0, ended.err[-3000:]
        return json.loads(ended.out) if ended.out.strip() else None

    def _warm_python(self) -> WarmPython:
        return self._workers

    def submit(
        self, slug: str = "nas-cg", nodes: int = 4, asking: dict[str, Any] | None = None, **parameters: Any
    ) -> int:
        """The number of a new job; `asking` are further fields of its JobSpec."""
        more = asking or {}
        job: int = self.run(f"""
            asked = job_spec.JobSpec(Application.objects.get(slug={slug!r}), {parameters!r}, {nodes})
            asked = asked.with_changes({more!r})
            print(submission.submit_job(User.objects.get(username="ada"), asked).pk)
        """)
        return job

    def follow(self, job: int, condition: str, seconds: float = 120.0, *, first: str = "") -> tuple[str, str]:
        """Do `first`, then poll until `condition` on `job` and `said` (why it is where it is) is true; state and words.

        All in one process, for to start one takes longer than most of what is waited for.
        """
        state, said = self.run(f"""
            {first}
            for _ in looks({seconds}):
                tasks.poll_runs()
                job = Job.objects.get(pk={job})
                said = messages(occupancy.explanation(job))
                if {condition}:
                    break
            else:
                raise AssertionError(({condition!r}, job.state, said))
            print(json.dumps([job.state, said]))
        """)
        return state, said

    def to_the_end(self, job: int, seconds: float = 120.0) -> dict[str, Any]:
        """Do what beat does until the job has ended; its story in short."""
        story: dict[str, Any] = self.run(f"""
            for _ in looks({seconds}):
                tasks.advance_jobs(); tasks.poll_runs()
                if Job.objects.get(pk={job}).is_final:
                    break
            job = Job.objects.get(pk={job})
            runs = list(job.runs.values("key", "exit_code", "verified", "seconds", "hosts", "run_dir"))
            print(json.dumps({{"state": job.state, "reason": message(job.reason), "runs": runs,
                "events": [e.to_state for e in job.events.all()], "said": [message(e.reason) for e in job.events.all()],
                "nodes": [r.placement.nodes for r in job.runs.all()],
                "phases": [p["phase"] for r in job.runs.all() for p in run_selectors.phase_summary(r)]}}))
        """)
        return story


def chain_with_inputs(portal: Portal, cluster: str) -> list[dict[str, Any]]:
    """The stories of two jobs, each with a file of its own that its two ranks read; the second starts after the success
    of the first."""
    first, second = portal.run(f"""
        from django.core.files.uploadedfile import SimpleUploadedFile
        from scheduling.jobs.services import job_inputs
        ada = User.objects.get(username="ada")
        reads = registering.register_application("tests", {{"slug": "reads", "name": "Reads", "pattern": "ring",
            "ranks": {{"min": 1, "max": 8}}, "command": ["bash", "-c", "cat part.txt >> seen"]}})
        numbers = []
        for text in (b"one\\n", b"two\\n"):
            kept = job_inputs.receive(ada, [SimpleUploadedFile("part.txt", text)])
            asked = job_spec.JobSpec(reads, {{}}, 2).with_changes(
                {{"cluster": {cluster!r}, "inputs": kept, "after_ok": tuple(numbers)}})
            numbers.append(submission.submit_job(ada, asked).pk)
        print(json.dumps(numbers))
    """)
    told = portal.to_the_end(second)
    return [portal.to_the_end(first), told]


def check_chain(stories: list[dict[str, Any]]) -> None:
    """Each had its own file in its folder, on both nodes, and the second had waited for the first."""
    for story, text in zip(stories, ("one\n", "two\n"), strict=True):
        assert story["state"] == "succeeded", story["reason"]
        (run,) = story["runs"]
        assert Path(run["run_dir"], "seen").read_text(encoding="utf-8") == 2 * text
    assert stories[1]["events"][:3] == ["queued", "waiting", "queued"]
    assert "The jobs that it waited for have ended" in stories[1]["said"][2]


def starts(story: dict[str, Any]) -> int:
    """How often the program of a job began, as its own progress files say."""
    files = [Path(run["run_dir"], "progress.jsonl") for run in story["runs"]]
    return sum(file.read_text(encoding="utf-8").count('"event": "start"') for file in files if file.exists())


def wait_for(condition: Any, what: str, seconds: float = 120.0) -> Any:
    """The first true answer of `condition`."""
    for _ in looks(seconds):
        if answer := condition():
            return answer
    raise AssertionError(f"waited {seconds:g} s in vain for {what}")
