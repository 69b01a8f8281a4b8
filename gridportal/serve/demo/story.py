"""A finished job told in a few lines: what was asked, which candidates there were, what won and why, how it went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console

from gridportal.base.printed_table import Column, show_table
from scheduling.jobs.models import Job
from scheduling.messages import message
from scheduling.messages.documents import candidates


def tell(job: Job) -> dict[str, Any]:
    """The story of a job as one JSON-ready value."""
    placement = job.placements.last()
    run = job.runs.last()
    return {
        "job": job.pk,
        "application": job.application.slug,
        "parameters": job.parameters,
        "state": job.state,
        "reason": message(job.reason),
        "method": job.method,
        "pattern": job.pattern or job.application.pattern,
        "candidates": candidates(placement.candidates) if placement else [],
        "nodes": placement.nodes if placement else [],
        "bottleneck": placement.bottleneck.document() if placement and placement.bottleneck else None,
        "optimal": placement.optimal if placement else None,
        "selection_seconds": placement.seconds if placement else None,
        "hosts": run.hosts if run else [],
        "seconds": run.seconds if run else None,
        "verified": run.is_verified if run else None,
        "result": run.result if run else {},
        "events": [
            {"at": event.at.isoformat(), "state": event.to_state, "reason": message(event.reason)}
            for event in job.events.all()
        ],
    }


def show(story: dict[str, Any], console: Console) -> None:
    """Print the story for a person."""
    parameters = " ".join(f"{name} {value}" for name, value in story["parameters"].items())
    title = (
        f"Job {story['job']}: {story['application']} {parameters}, pattern {story['pattern']}, method {story['method']}"
    )
    columns = (
        Column("Candidate", wraps=True),
        Column("Bottleneck, Mbit/s", number=True),
        Column("Cpu", number=True),
        Column("Why", wraps=True),
    )
    show_table(columns, [_cells(candidate) for candidate in story["candidates"]], title=title, console=console)
    for line in _lines(story):
        console.print(line, markup=False)


def _cells(candidate: Mapping[str, Any]) -> tuple[str, ...]:
    objective = candidate["objective"]
    return (
        " ".join(candidate["nodes"]),
        _mbit(objective.get("min_bandwidth")),
        f"{objective['min_cpu']:.2f}" if objective.get("min_cpu") is not None else "–",
        candidate.get("reason", ""),
    )


def _lines(story: Mapping[str, Any]) -> Iterator[str]:
    hosts = " ".join(story["hosts"]) or "–"
    yield f"Chosen nodes:  {' '.join(story['nodes']) or '–'}   (ranks ran on: {hosts})"
    if story["bottleneck"]:
        edge = story["bottleneck"]
        yield f"Bottleneck:    {edge['source']}–{edge['target']}, {_mbit(edge.get('bandwidth'))} Mbit/s"
    if story["seconds"] is not None:
        yield f"Run time:      {story['seconds']:.2f} s"
    yield f"Verification:  {_verdict(story)}"


def _verdict(story: Mapping[str, Any]) -> str:
    if story["verified"]:
        return "successful (" + ", ".join(f"{k} {v}" for k, v in story["result"].items()) + ")"
    return f"not verified; the job {story['state']}: {story['reason'] or 'no reason was given'}"


def _mbit(value: float | None) -> str:
    return "–" if value is None else f"{value / 1e6:.1f}"
