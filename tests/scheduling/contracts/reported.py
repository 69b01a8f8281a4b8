"""Runs with the lines that a program wrote."""

from __future__ import annotations

import json
from pathlib import Path

from django.utils import timezone

from scheduling.runs.models import Run
from scheduling.runs.services.reading_progress import ingest

#: Of the first line.
AT = 1_800_000_000.0


def report(
    run: Run, *seconds: float, phase: str = "step", of: int = 100, first: int = 1, since: float | None = None
) -> None:
    """Lines of a program; since: the Unix time of the first one, by the clock of its node, else AT."""
    with Path(run.run_dir, "progress.jsonl").open("a", encoding="utf-8") as file:
        for at, each in enumerate(seconds, start=first):
            line = {
                "t": (AT if since is None else since) + at,
                "event": "phase",
                "phase": phase,
                "seconds": each,
                "iteration": at,
                "of": of,
            }
            file.write(json.dumps(line) + "\n")


def end(run: Run) -> None:
    """It ends well."""
    ingest(run, over=True)
    Run.objects.filter(pk=run.pk).update(state="succeeded", ended_at=timezone.now())
