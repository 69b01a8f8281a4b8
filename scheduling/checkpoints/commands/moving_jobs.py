"""`gridportal job`: having a job stopped with a checkpoint and go on elsewhere, and what became of that."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gridportal.base.errors import InputError
from gridportal.base.printed_table import Column, show_table
from gridportal.base.typed_options import HELP, Commands
from gridportal.web.command_database import database

if TYPE_CHECKING:
    from gridportal.accounts.models import User
    from scheduling.checkpoints.models import Checkpoint
    from scheduling.jobs.models import Job
    from scheduling.runs.continuation_models import Continuation

app = typer.Typer(cls=Commands, context_settings=HELP, no_args_is_help=True, help="Jobs that stop and go on elsewhere.")

Number = Annotated[int, typer.Argument(metavar="JOB", help="The number of the job.", min=1)]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document.")]


@app.command()
def move(
    job: Number,
    person: Annotated[str, typer.Option("--as", help="Who asks: the name of somebody who may.")],
    nodes: Annotated[
        str, typer.Option(help="Names with commas between them, each once or rank by rank. Default: chosen.")
    ] = "",
    ranks: Annotated[int | None, typer.Option(help="On how many ranks. Default: as many as before.", min=1)] = None,
    reason: Annotated[str, typer.Option(help="For whoever looks at the job later.")] = "",
    as_json: AsJson = False,
) -> None:
    """Have a job stopped with a checkpoint and go on, on other nodes or another number of ranks."""
    with database():
        from scheduling.checkpoints.services.requesting import stop_and_continue

        found, who = _job(job), _person(person)
        if not who.has_perm("scheduling.move_job", found):
            raise InputError("--as", person, f"the owner of job {job} or an operator")
        names = [name.strip() for name in nodes.split(",") if name.strip()] or None
        made = stop_and_continue(found, by=who, nodes=names, ranks=ranks, reason=reason)
        said = {"job": job, "move": made.pk, "state": made.state, "ranks": made.ranks, "nodes": list(made.nodes)}
    if as_json:
        typer.echo(json.dumps(said))
    else:
        typer.echo(f"Job {job} is moved: its nodes are chosen now, then it is stopped. See: gridportal job moves {job}")


@app.command()
def moves(job: Number, as_json: AsJson = False) -> None:
    """Each time that a job was stopped and went on, and the seconds of each phase."""
    with database():
        from scheduling.checkpoints.selectors import PHASES, moves_of

        rows, names = moves_of(_job(job)), [name for name, _ in PHASES]
        documents = [_move_document(row, names) for row in rows]
    if as_json:
        typer.echo(json.dumps({"job": job, "moves": documents}))
        return
    heads = [Column(name, number=True) for name in ("move", "ranks", "total", "paused")]
    columns = [heads[0], Column("state"), *heads[1:], *(Column(name, number=True, spare=1) for name in names)]
    cells = [
        (str(row.pk), row.state, str(row.ranks), *(_shown(getattr(row, name)) for name in ("total", "paused", *names)))
        for row in rows
    ]
    _tell(columns, cells, f"Job {job} was never moved.")


@app.command()
def checkpoints(job: Number, as_json: AsJson = False) -> None:
    """The checkpoints of a job: number, age, size, place and health."""
    with database():
        from scheduling.checkpoints.selectors import checkpoints_of

        rows = checkpoints_of(_job(job))
        documents = [_checkpoint_document(row) for row in rows]
    if as_json:
        typer.echo(json.dumps({"job": job, "checkpoints": documents}))
        return
    columns = [Column("number", number=True), Column("written, UTC"), Column("ranks", number=True)]
    columns += [Column("bytes", number=True), Column("place", wraps=True), Column("health", wraps=True)]
    cells = []
    for row, said in zip(rows, documents, strict=True):
        written = f"{row.written_at:%Y-%m-%d %H:%M:%S}" if row.written_at else "—"
        place, health = " ".join(row.depots) or "the job's folder", f"{row.health} {said['problem']}"
        cells.append((str(row.number), written, str(row.ranks or "—"), str(row.bytes), place, health))
    _tell(columns, cells, f"Job {job} has no checkpoint.")


def _move_document(row: Continuation, names: Sequence[str]) -> dict[str, Any]:
    from scheduling.messages import message

    return {
        "move": row.pk,
        "state": row.state,
        "by": row.by,
        "ranks": row.ranks,
        "nodes": list(row.placement.nodes if row.placement else row.nodes),
        "checkpoint": row.checkpoint,
        "reason": message(row.reason),
        "seconds": {name: getattr(row, name) for name in names},
        "total": row.total,
        "paused": row.paused,
    }


def _checkpoint_document(row: Checkpoint) -> dict[str, Any]:
    from scheduling.messages import message

    return {
        "number": row.number,
        "written_at": row.written_at.isoformat() if row.written_at else None,
        "ranks": row.ranks,
        "bytes": row.bytes,
        "depots": list(row.depots),
        "health": row.health,
        "problem": message(row.problem),
    }


def _tell(columns: Sequence[Column], cells: Sequence[Sequence[str]], empty: str) -> None:
    if cells:
        show_table(columns, cells)
    else:
        typer.echo(empty)


def _shown(seconds: float | None) -> str:
    return "—" if seconds is None else f"{seconds:.2f}"


def _job(number: int) -> Job:
    from scheduling.jobs.models import Job

    found = Job.objects.select_related("application", "owner").filter(pk=number).first()
    if found is None:
        raise InputError("JOB", number, "the number of a job")
    return found


def _person(name: str) -> User:
    from gridportal.accounts.models import User

    found = User.objects.filter(username=name).first()
    if found is None:
        raise InputError("--as", name, "the name of a person of this portal")
    return found
