"""A move by hand, and what it is expected to take, which is told before and kept beside what it took.

Source: Migration 2003, table I and 8.3.
"""

from __future__ import annotations

from collections.abc import Sequence

from gridportal.accounts.models import User
from gridportal.base.errors import GridPortalError, ImpossibleError
from monitoring.clusters.selectors import traits
from scheduling.checkpoints.core.targets import Target
from scheduling.checkpoints.services import requesting
from scheduling.checkpoints.services.reserving import NodeChoice, choose_elsewhere, impossible, without_prospect
from scheduling.jobs.models import Job
from scheduling.placing.services.choosing import WaitsError
from scheduling.rescheduling import selectors
from scheduling.rescheduling.core.expected_move import ExpectedMove, phases_of
from scheduling.rescheduling.services import costing, deciding
from scheduling.runs.continuation_models import Continuation
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run


def expected(job: Job, nodes: Sequence[str] | None = None, ranks: int | None = None) -> ExpectedMove:
    """What `move` would take now with the same arguments; nothing is reserved. Raises InputError and ConflictError as
    `requesting.stop_and_continue` does."""
    run = requesting.movable(job)
    asked = requesting.check_target(job, run, nodes, ranks)
    runs, has_queue = run.state == RunState.RUNNING, traits(job.cluster).has_queue
    try:
        choice = _choice(run, asked)
    except (WaitsError, ImpossibleError) as error:
        return ExpectedMove((), phases_of({}, runs=runs, has_queue=has_queue), why=without_prospect(impossible(error)))
    seconds = phases_of(costing.predicted_phases(run, choice), runs=runs, has_queue=has_queue)
    return ExpectedMove(tuple(choice.nodes), seconds, choice.measured_at)


def move(
    job: Job, *, by: User, nodes: Sequence[str] | None = None, ranks: int | None = None, reason: str = ""
) -> tuple[Continuation, ExpectedMove | None]:
    """Have a job stopped and go on (`requesting.stop_and_continue`, with its errors); ConflictError also where somebody
    has decided already where it goes. What that is expected to take is kept with it, None where nobody can tell. The
    nodes are chosen once more when they are reserved, by the newest figures; where these choose others, the move says
    so (`Continuation.goes_elsewhere`)."""
    try:
        found = expected(job, nodes, ranks)
    except GridPortalError:
        found = None  # what is wrong with the request is told next
    columns = selectors.expected_columns(found) if found else {}
    told = found.nodes if found else ()
    made = requesting.stop_and_continue(
        job,
        by=by,
        nodes=nodes,
        ranks=ranks,
        reason=reason,
        expected=columns,
        announced_nodes=told,
        last_check=deciding.check_undecided,
    )
    return made, found


def _choice(run: Run, asked: Target) -> NodeChoice:
    """As reserving will choose: on other nodes than now where the program runs and nobody said otherwise."""
    same_count = asked.ranks == len(run.placement.nodes)
    anywhere = run.state != RunState.RUNNING or not same_count
    return choose_elsewhere(run, asked.nodes, asked.ranks, anywhere=anywhere)
