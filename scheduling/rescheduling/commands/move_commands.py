"""`gridportal moves`: decisions on moves, what people decide on them, by which rules, and dry runs."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from gridportal.base.errors import InputError
from gridportal.base.printed_text import echo
from gridportal.base.typed_options import HELP, Commands
from gridportal.web.command_database import database
from scheduling.checkpoints.core.targets import nodes_of

app = typer.Typer(
    cls=Commands, context_settings=HELP, no_args_is_help=True, help="Moves of jobs: proposals, decisions, rules."
)

Decision = Annotated[int, typer.Argument(metavar="DECISION", help="The number of the decision.", min=1)]
JobNumber = Annotated[int, typer.Argument(metavar="JOB", help="The number of the job.", min=1)]
Person = Annotated[str, typer.Option("--as", help="Who does it: the name of somebody who may.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document.")]
_LISTS = ("waiting", "under-way", "moved", "not-moved", "all")


@app.command("list")
def list_command(
    show: Annotated[str, typer.Option(help="waiting, under-way, moved, not-moved or all.")] = "waiting",
    most: Annotated[int, typer.Option(help="At most so many, the newest first.", min=1, max=10_000)] = 50,
    as_json: AsJson = False,
) -> None:
    """Decisions on moves: those that wait for somebody, unless told otherwise."""
    if show not in _LISTS:
        raise InputError("show", show, "one of " + ", ".join(_LISTS))
    with database():
        from scheduling.rescheduling.commands import move_tables

        rows = move_tables.listed(show, most)
        documents = [move_tables.document(row) for row in rows]
        if not as_json:
            move_tables.show_decisions(rows, f"There is no decision to show: {show}.")
    if as_json:
        echo(json.dumps({"show": show, "moves": documents}, allow_nan=False))


@app.command()
def show(decision: Decision, as_json: AsJson = False) -> None:
    """One decision: both ways in seconds, the cost by phase, its steps, and how far its move is."""
    with database():
        from scheduling.rescheduling.commands import move_tables

        found = move_tables.decision(decision)
        if not as_json:
            move_tables.show_decision(found)
            return
        document = move_tables.detail(found)
    echo(json.dumps(document, allow_nan=False))


@app.command()
def approve(
    decision: Decision,
    person: Person,
    reason: Annotated[str, typer.Option(help="Why, for whoever looks later.")] = "",
    as_json: AsJson = False,
) -> None:
    """Let the job move as proposed."""
    with database():
        from scheduling.rescheduling.commands import move_tables
        from scheduling.rescheduling.services import deciding

        found, who = move_tables.decision(decision), move_tables.allowed(person, "scheduling.approve_move")
        said = move_tables.document(deciding.approve(who, found, reason))
    _tell(said, as_json)


@app.command()
def refuse(
    decision: Decision,
    person: Person,
    reason: Annotated[str, typer.Option(help="Why.")],
    as_json: AsJson = False,
) -> None:
    """Let the job stay where it is."""
    with database():
        from scheduling.rescheduling.commands import move_tables
        from scheduling.rescheduling.services import deciding

        found, who = move_tables.decision(decision), move_tables.allowed(person, "scheduling.refuse_move")
        said = move_tables.document(deciding.refuse(who, found, reason))
    _tell(said, as_json)


@app.command()
def override(
    decision: Decision,
    person: Person,
    reason: Annotated[str, typer.Option(help="Why.")],
    nodes: Annotated[
        str, typer.Option(help="Names with commas or blanks between them, each once or rank by rank.")
    ] = "",
    ranks: Annotated[int | None, typer.Option(help="On how many ranks. Default: as many as before.", min=1)] = None,
    as_json: AsJson = False,
) -> None:
    """Let the job move to other nodes, or to another number of them."""
    with database():
        from scheduling.rescheduling.commands import move_tables
        from scheduling.rescheduling.services import deciding

        found, who = move_tables.decision(decision), move_tables.allowed(person, "scheduling.override_move")
        names = nodes_of(nodes) or []
        said = move_tables.document(deciding.override(who, found, names, reason, ranks))
    _tell(said, as_json)


@app.command()
def propose(job: JobNumber, person: Person, as_json: AsJson = False) -> None:
    """Weigh a move of a job now; the decision waits for an operator. Waits for a worker that is at it already."""
    with database():
        from scheduling.rescheduling.commands import asked_weighings, move_tables

        row = move_tables.job(job)
        who = move_tables.allowed(person, "scheduling.propose_move", row)
        said = move_tables.document(asked_weighings.weighed(who, row))
    _tell(said, as_json)


@app.command("job")
def job_command(
    job: JobNumber,
    person: Annotated[str, typer.Option("--as", help="Who changes it; nobody: it is only shown.")] = "",
    moves: Annotated[str, typer.Option(help="never: it is not to be moved; yes: it is.")] = "",
    mode: Annotated[
        str | None, typer.Option(help="observe, ask or automatic, or an empty one for its cluster's.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Whether one job is moved at all, and by which mode."""
    if moves not in ("", "never", "yes"):
        raise InputError("moves", moves, "never or yes")
    with database():
        from scheduling.rescheduling import decision_messages
        from scheduling.rescheduling.commands import move_tables

        changed = move_tables.job_policy(job, person, moves, mode)
        said = {"job": job, "opted_out": changed.opted_out, "policy": changed.policy}
        sentence = f"Job {job}: {decision_messages.job_policy(changed)}"
    echo(json.dumps(said) if as_json else sentence)


@app.command()
def rules(
    cluster: Annotated[str, typer.Argument(help="The name of the cluster.")],
    person: Annotated[str, typer.Option("--as", help="Who changes them; nobody: they are only shown.")] = "",
    change: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE, such as threshold=0.2; may be given again.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """By which rules jobs of a cluster are moved."""
    with database():
        from scheduling.rescheduling.commands import move_tables

        said = move_tables.rules(cluster, person, change or [])
        if not as_json:
            move_tables.show_rules(said)
            return
    echo(json.dumps(said, allow_nan=False))


@app.command("dry-run")
def dry_run_command(
    cluster: Annotated[str, typer.Argument(help="The name of the cluster.")], as_json: AsJson = False
) -> None:
    """Simulate the whole series of moves in order, capacity deducted; nothing is stopped."""
    with database():
        from scheduling.rescheduling.commands import move_tables
        from scheduling.rescheduling.services.dry_runs import dry_run

        found = dry_run(cluster)
        if not as_json:
            move_tables.show_dry_run(found)
            return
        document = move_tables.dry_run_document(found)
    echo(json.dumps(document, allow_nan=False))


def _tell(said: dict[str, object], as_json: bool) -> None:
    text = f"Decision {said['id']} on job {said['job']} is {said['state']}. {said['finding']}"
    echo(json.dumps(said, allow_nan=False) if as_json else text)
