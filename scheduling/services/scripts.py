"""The batch script of a job on given nodes."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from scheduling.core import parameters, script
from scheduling.models import Job
from scheduling.services.requests import JobRequest


def script_of(job: Job | JobRequest, nodes: Sequence[str], directory: str, title: str) -> str:
    """The bash text that runs the job's program with one rank on each of `nodes`."""
    application = job.application
    typed = parameters.validate(parameters.parse(application.parameters), job.parameters)
    built_in = {"python": sys.executable, "ranks": len(nodes), "run_dir": directory}
    argv = parameters.render(application.command, {**typed, **built_in})
    return script.render(
        script.Script(
            title=title,
            method=job.method,
            nodes=tuple(nodes),
            argv=tuple(argv),
            run_dir=directory,
            environment=application.environment,
            name=job.name,
        )
    )
