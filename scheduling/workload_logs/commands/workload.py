"""`gridportal workload`: logs of jobs in the Standard Workload Format, read in or made up."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from gridportal.base.errors import InputError
from gridportal.base.printed_text import echo
from gridportal.base.typed_options import HELP, Commands
from gridportal.web.command_database import database

app = typer.Typer(
    cls=Commands,
    context_settings=HELP,
    no_args_is_help=True,
    help="Logs of jobs in the Standard Workload Format (SWF).",
)


@app.callback()
def everything() -> None:
    """Logs of jobs in the Standard Workload Format (SWF)."""


@app.command("import")
def import_log(
    file: Annotated[Path, typer.Argument(help="The log.", exists=True, dir_okay=False, readable=True)],
    cluster: Annotated[str, typer.Option(help="The name of the cluster that gets the jobs: no other one has it.")],
    start: Annotated[
        str, typer.Option(help="When its times begin, such as 2025-11-01, in place of what the log says.")
    ] = "",
    processors_per_node: Annotated[
        int, typer.Option(help="In place of what the log says.", min=0, max=100_000, show_default="as the log says")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Read a log into finished jobs, so that reports show them. What was read before is left out."""
    begin = _moment(start) if start else None
    with database():
        from gridportal.accounts.audit import Subject, audit
        from scheduling.usage.services.counting_use import count_use
        from scheduling.workload_logs.services.reading_logs import read_log

        with file.open(encoding="utf-8", errors="replace") as lines:
            found = read_log(lines, cluster, begin, processors_per_node or None)
        counted = count_use()
        if found.jobs:
            audit(
                "command line", "workload.import", Subject("cluster", cluster, cluster), jobs=found.jobs, file=file.name
            )
    for bad in found.bad:
        echo(f"{file}, line {bad.line}: {bad.why}.", err=True)
    if found.bad_lines > len(found.bad):
        echo(f"{found.bad_lines - len(found.bad)} more lines are no jobs.", err=True)
    facts = {name: getattr(found, name) for name in ("jobs", "repeated", "parts", "bad_lines")}
    words = (
        f"{found.jobs} jobs are new, {found.repeated} were there, {found.parts} lines are parts of jobs, "
        f"{found.bad_lines} lines are no jobs."
    )
    echo(json.dumps(facts | {"counted": counted}) if as_json else words)
    if found.bad_lines and not (found.jobs or found.repeated or found.parts):
        raise InputError("FILE", file, "a log in the Standard Workload Format: none of its lines is a job")


@app.command()
def make(
    jobs: Annotated[int, typer.Option(help="How many jobs.", min=1, max=10_000_000)] = 10_000,
    days: Annotated[int, typer.Option(help="Over how many days.", min=1, max=3660)] = 365,
    seed: Annotated[int, typer.Option(help="The same seed gives the same log.", min=0)] = 1,
    start: Annotated[str, typer.Option(help="The first day.")] = "2026-01-01",
) -> None:
    """Print a made-up log. It is no real system's."""
    from scheduling.workload_logs.core.synthetic_log import LogSize, synthetic_lines

    for line in synthetic_lines(LogSize(jobs, days), seed, int(_moment(start).timestamp())):
        sys.stdout.write(f"{line}\n")


@app.command()
def remove(
    cluster: Annotated[str, typer.Argument(help="The name of the cluster that got the jobs.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document; only together with --yes.")] = False,
) -> None:
    """Remove a log that was read: its jobs, their sums, and people and programs that nothing else uses."""
    if as_json and not yes:
        raise InputError("--json", as_json, "--json together with --yes: nobody can be asked")
    with database():
        from scheduling.workload_logs.services.removing_logs import ask_removal, log_jobs, remove_log

        question = f"Remove {log_jobs(cluster).count()} jobs of the log {cluster}? They cannot be brought back"
        if not yes and not typer.confirm(question):
            raise typer.Exit(1)
        ask_removal("command line", cluster)
        found = asdict(remove_log(cluster))
    words = ", ".join(f"{count} {noun}" for noun, count in found.items())
    echo(json.dumps(found) if as_json else f"Removed {words}.")


def _moment(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError("start", text, "a day or moment, such as 2025-11-01") from error
    if not 1970 < found.year < 2097:
        raise InputError("start", text, "a day between 1971 and 2096")
    return found if found.tzinfo else found.replace(tzinfo=UTC)
