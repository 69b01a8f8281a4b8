"""`gridportal job`: what a job is about, beside the commands that have it stopped and go on elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gridportal.base.errors import InputError
from gridportal.base.printed_table import Column, show_table
from gridportal.base.printed_text import echo
from gridportal.base.rank_places import in_short
from gridportal.web.command_database import database
from scheduling.rescheduling.commands.moving_jobs import AsJson, Number, app


@app.command()
def show(job: Number, as_json: AsJson = False) -> None:
    """Where a job is and why, and how its runs ended. As JSON: what GET /api/jobs/JOB answers, without its files."""
    with database():
        document = _document(job)
        if not as_json:
            _tell(document)
            return
        from rest_framework.renderers import JSONRenderer

        text = JSONRenderer().render(document).decode()
    echo(text)


def _document(number: int) -> dict[str, Any]:
    from scheduling.jobs.models import Job
    from scheduling.messages import messages
    from scheduling.pages.selectors import with_outcomes
    from scheduling.pages.serializers import JobDetailSerializer
    from scheduling.placing.selectors import occupancy

    found: Any = with_outcomes(Job.objects.filter(pk=number)).first()
    if found is None:
        raise InputError("JOB", number, "the number of a job")
    found.explanation = messages(occupancy.explanation(found))
    return dict(JobDetailSerializer(found).data) | {"inputs": None}


def _tell(document: Mapping[str, Any]) -> None:
    where = f" on {in_short(document['nodes'], ', ')}" if document["nodes"] else ""
    asked = f"{document['application']} with {document['ranks']} rank{'' if document['ranks'] == 1 else 's'}"
    echo(f"Job {document['id']}: {asked} of {document['owner']}, {document['state']}{where}.")
    if document["explanation"]:
        echo(document["explanation"])
    if document["runs"]:
        heads = (Column("run", number=True), Column("state"), Column("exit code", number=True))
        columns = (*heads, Column("seconds", number=True), Column("check", wraps=True))
        show_table(columns, [tuple(_cells(run)) for run in document["runs"]])


def _cells(run: Mapping[str, Any]) -> Iterator[str]:
    from scheduling.messages.program_check import check_text

    passed, seconds = run["check_passed"], run["seconds"]
    yield str(run["number"])
    yield run["state"]
    yield "—" if run["exit_code"] is None else str(run["exit_code"])
    yield "—" if seconds is None else f"{seconds:.2f}"
    yield "—" if passed is None else check_text(passed, run["state"])
