"""`gridportal job`: having a job stopped with a checkpoint and go on elsewhere, and what became of that."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gridportal.base.errors import InputError
from gridportal.base.printed_table import Column, show_table
from gridportal.base.printed_text import echo
from gridportal.base.rank_places import in_short
from gridportal.base.typed_options import HELP, Commands
from gridportal.web.command_database import database
from scheduling.checkpoints.core.targets import nodes_of

if TYPE_CHECKING:
    from gridportal.accounts.models import User
    from scheduling.checkpoints.models import Checkpoint, RestartFile
    from scheduling.checkpoints.selectors import RestartPoint
    from scheduling.jobs.models import Job
    from scheduling.rescheduling.core.expected_move import ExpectedMove
    from scheduling.runs.continuation_models import Continuation

app = typer.Typer(
    cls=Commands,
    context_settings=HELP,
    no_args_is_help=True,
    help="Jobs: where they are, and how they stop and go on elsewhere.",
)

Number = Annotated[int, typer.Argument(metavar="JOB", help="The number of the job.", min=1)]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document.")]


@app.command()
def move(
    job: Number,
    person: Annotated[str, typer.Option("--as", help="Who asks: the name of somebody who may.")],
    nodes: Annotated[
        str, typer.Option(help="Names with commas or blanks between them, each once or rank by rank. Default: chosen.")
    ] = "",
    ranks: Annotated[int | None, typer.Option(help="On how many ranks. Default: as many as before.", min=1)] = None,
    reason: Annotated[str, typer.Option(help="For whoever looks at the job later.")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what it is expected to take; nothing is stopped.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Have a job stopped with a checkpoint and go on, on other nodes or another number of ranks.

    One that has stopped or failed goes on from the last checkpoint that it left. Says phase by phase what that is
    expected to take, as far as it is known."""
    with database():
        from scheduling.checkpoints.selectors import restart_point
        from scheduling.rescheduling.services import expected_moves

        found, who = _job(job), _person(person)
        if not who.has_perm("scheduling.move_job", found):
            raise InputError("--as", person, f"the owner of job {job} or an operator")
        names = nodes_of(nodes)
        runs, point = found.state == "running", restart_point(found)
        if dry_run:
            _tell_expected(job, expected_moves.expected(found, names, ranks), as_json)
            return
        made, expected = expected_moves.move(found, by=who, nodes=names, ranks=ranks, reason=reason)
        document = {"job": job, "move": made.pk, "state": made.state, "ranks": made.ranks, "nodes": list(made.nodes)}
        document["goes_on_from"] = None if runs or point is None else _point_document(point)
        document["expected"] = None if expected is None else _expected_document(expected)
        then = "then it is stopped" if runs else f"then it goes on{_from(point)}"
    if as_json:
        echo(json.dumps(document, allow_nan=False))
    else:
        if expected is not None:
            _show_expected(expected)
        echo(f"Job {job} is moved: its nodes are chosen now, {then}. See: gridportal job moves {job}")


@app.command()
def moves(job: Number, as_json: AsJson = False) -> None:
    """Each time that a job was stopped and went on, and the seconds of each phase.

    total: from the request until the program computed again; paused: of these, how long it did not compute. writing:
    writing the checkpoint; telemetry: waiting for figures; information: asking which nodes there are; schedule:
    choosing the nodes; start: starting the program; reading: reading the checkpoint; other: what is left."""
    with database():
        from scheduling.checkpoints.selectors import PHASES, expected_of, moves_of
        from scheduling.messages.move_messages import other_nodes

        rows, names = moves_of(_job(job)), [name for name, _ in PHASES]
        documents, expected = [_move_document(row, names) for row in rows], [expected_of(row) for row in rows]
    if as_json:
        echo(json.dumps({"job": job, "moves": documents}))
        return
    heads = [Column(name, number=True) for name in ("move", "ranks", "total", "paused")]
    columns = [heads[0], Column("state"), *heads[1:], *(Column(name, number=True, spare=1) for name in names)]
    cells = [cell for row, was in zip(rows, expected, strict=True) for cell in _move_rows(row, was, names)]
    _tell(columns, cells, f"Job {job} was never moved.")
    for row in (each for each in rows if each.goes_elsewhere):
        echo(f"Move {row.pk}: {other_nodes(row.announced_nodes, row.placement.nodes if row.placement else ())}")


@app.command()
def checkpoints(job: Number, as_json: AsJson = False) -> None:
    """The checkpoints of a job: number, age, size, place and health; or the files of its program's own restart."""
    with database():
        from scheduling.checkpoints.selectors import checkpoints_of, restart_files_of, restart_point

        found = _job(job)
        rows, files, point = checkpoints_of(found), restart_files_of(found), restart_point(found)
        documents = [_checkpoint_document(row) for row in rows]
        left = [_file_document(file) for file in files]
    if as_json:
        goes_on = None if point is None else _point_document(point)
        document = {"job": job, "goes_on_from": goes_on, "checkpoints": documents, "restart_files": left}
        echo(json.dumps(document))
        return
    if point is not None:
        echo(f"Job {job} would go on{_from(point)}.")
    if files:
        _tell_files(files)
        return
    columns = [Column("number", number=True), Column("written, UTC"), Column("ranks", number=True)]
    columns += [Column("bytes", number=True), Column("place", wraps=True), Column("health", wraps=True)]
    cells = []
    for row, said in zip(rows, documents, strict=True):
        written = f"{row.written_at:%Y-%m-%d %H:%M:%S}" if row.written_at else "—"
        place, health = " ".join(row.depots) or "the job's folder", f"{row.health} {said['problem']}"
        cells.append((str(row.number), written, str(row.ranks or "—"), str(row.bytes), place, health))
    _tell(columns, cells, f"Job {job} has no checkpoint.")


def _tell_expected(job: int, expected: ExpectedMove, as_json: bool) -> None:
    if as_json:
        echo(json.dumps({"job": job, "expected": _expected_document(expected)}, allow_nan=False))
    else:
        _show_expected(expected)


def _move_rows(
    row: Continuation, expected: Mapping[str, float | None], names: Sequence[str]
) -> Iterator[Sequence[str]]:
    """What a move took, and above it what it was expected to take, where somebody asked."""
    columns = ("total", "paused", *names)
    if expected:
        yield str(row.pk), "expected", str(row.ranks), *(_shown(expected.get(name)) for name in columns)
    yield str(row.pk), row.state, str(row.ranks), *(_shown(getattr(row, name)) for name in columns)


def _expected_document(expected: ExpectedMove) -> dict[str, Any]:
    from scheduling.messages import message
    from scheduling.rescheduling.selectors import expected_columns

    return {
        "nodes": list(expected.nodes),
        "measured_at": expected.measured_at.isoformat() if expected.measured_at else None,
        "seconds": expected_columns(expected),
        "partial_total": expected.partial_total,
        "total": expected.total,
        "problem": message(expected.why) if expected.why else "",
    }


def _show_expected(expected: ExpectedMove) -> None:
    from scheduling.messages import message
    from scheduling.rescheduling.selectors import expected_rows

    if expected.why is not None:
        echo(f"What it would take cannot be told now. {message(expected.why)}")
        return
    rows = [(words, "not known" if seconds is None else f"{seconds:.2f}") for words, seconds in expected_rows(expected)]
    more = " and what is not known" if expected.unknown else ""
    show_table([Column("phase"), Column("expected, s", number=True)], rows)
    echo(f"Expected: {expected.partial_total:.2f} s{more}, on {in_short(expected.nodes)}, as the network is now.")


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
        "expected": row.expected or None,
        "announced_nodes": list(row.announced_nodes),
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


def _file_document(row: RestartFile) -> dict[str, Any]:
    from scheduling.messages.move_messages import unusable

    written, problem = row.written_at.isoformat(), unusable(row.health)
    return {"name": row.name, "written_at": written, "bytes": row.bytes, "health": row.health, "problem": problem}


def _tell_files(files: Sequence[RestartFile]) -> None:
    from scheduling.messages.move_messages import unusable

    columns = [Column("file", wraps=True), Column("written, UTC"), Column("bytes", number=True)]
    cells = []
    for file in files:
        health = f"{file.health} {unusable(file.health)}".strip()
        cells.append((file.name, f"{file.written_at:%Y-%m-%d %H:%M:%S}", str(file.bytes), health))
    show_table([*columns, Column("health", wraps=True)], cells)


def _point_document(point: RestartPoint) -> dict[str, Any]:
    at = point.written_at.isoformat() if point.written_at else None
    return {
        "checkpoint": point.checkpoint,
        "file": point.file,
        "written_at": at,
        "iteration": point.iteration,
        "of": point.of,
    }


def _from(point: RestartPoint | None) -> str:
    """From where it goes on, behind other words."""
    if point is None:
        return ""
    from django.utils import timezone

    from scheduling.messages.move_messages import restart_text

    at = point.written_at
    return " from " + restart_text(point.checkpoint, point.file, at, point.iteration, point.of, timezone.now())


def _tell(columns: Sequence[Column], cells: Sequence[Sequence[str]], empty: str) -> None:
    if cells:
        show_table(columns, cells)
    else:
        echo(empty)


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
