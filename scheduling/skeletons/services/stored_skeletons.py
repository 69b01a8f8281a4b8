"""The skeletons of applications: built from traced profiles, found again, stale when the program changes."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from numpy.typing import NDArray

from gridportal.accounts.audit import audit
from gridportal.accounts.models import User
from gridportal.base.errors import GridPortalError, ImpossibleError, InputError
from gridportal.base.reasons import NOTHING, Code, Reason
from gridportal.database.row_lease import RowLease
from scheduling.jobs.models import Application
from scheduling.profiles.core import profile
from scheduling.profiles.core.trace import Trace
from scheduling.profiles.models import Profile
from scheduling.profiles.services import stored_profiles
from scheduling.runs.adapters import player as players
from scheduling.runs.services.skeleton_player import SkeletonPlayer, player_of
from scheduling.skeletons.adapters import skeleton_runs
from scheduling.skeletons.core import trial_budget
from scheduling.skeletons.core.best_prediction import BestPrediction
from scheduling.skeletons.core.skeleton import build as build_skeleton
from scheduling.skeletons.core.skeleton import document
from scheduling.skeletons.models import Skeleton

log = logging.getLogger(__name__)
#: One builds the skeleton of a profile at a time: several would be kept beside each other.
_lease = RowLease(Profile, "building")
#: A document above so many bytes is no short program any more.
MOST_BYTES = 32 * 2**20


class SkeletonFigures(NamedTuple):
    """What a trial is planned with. `work`: seconds of each rank; `sizes[i, j]`: bytes from rank i to rank j."""

    pk: int
    expected: float
    seconds: float
    work: list[float]
    sizes: NDArray[np.float64]


def build(row: Profile, target: float | None = None, actor: User | None = None) -> tuple[Skeleton, bool]:
    """The skeleton of a traced profile, and whether it is new: where there is an equal one, that is given back.

    `target`: seconds that it is to take; None: as trial_budget.target has it. One that cannot be is kept with its
    problem. Raises InputError for a profile without a trace, for one of a run that failed or of which a skeleton is
    being built, and for a target that is no number of seconds above 0.
    """
    if target is not None and not (math.isfinite(target) and target > 0):
        raise InputError("target", target, "a number of seconds above 0")
    traced = _traced(row)
    with _lease.hold(Profile.objects.filter(pk=row.pk)) as mine:
        if not mine:
            raise InputError("profile", row.pk, "a profile of which no skeleton is being built at this moment")
        seconds = target if target is not None else usual_target(traced.wall)
        if equal := _equal(row, seconds):
            return equal, False
        return _built(row, traced, seconds, actor), True


def _equal(row: Profile, target: float) -> Skeleton | None:
    """The one that would be built again, if any: of this profile, for the same time, played by the same player, and
    the newest of its ranks and parameters, which jobs take."""
    rows = Skeleton.objects.filter(application=row.application, program=row.program, document__isnull=False)
    alike = rows.filter(ranks=row.ranks, parameters_key=row.parameters_key).defer("document")
    newest = alike.select_related("application", "profile").first()
    if newest is None or newest.profile_id != row.pk or newest.target != target:
        return None
    return newest if newest.player == _player(row).reason else None


def _player(row: Profile) -> SkeletonPlayer:
    return player_of(row.application, row.run.job.cluster if row.run else "")


def _traced(row: Profile) -> Trace:
    if stored_profiles.run_failed(row):
        raise InputError("profile", row.pk, "a profile of a run that did not fail")
    traced = stored_profiles.traced(row)
    if traced is None:
        raise InputError("profile", row.pk, "a profile that was traced, which one from monitoring was not")
    return traced


def _built(row: Profile, traced: Trace, target: float, actor: User | None) -> Skeleton:
    made = _of_profile(row, target=target, seconds=traced.wall)
    player = _player(row)
    made.player = player.reason
    try:
        made.rate = skeleton_runs.rate()
        work = {"near": players.rate(player.program)} if player.program else None
        built = build_skeleton(traced, target=target)
        made_document = document(built, rate=made.rate, player=work)
        _check_size(made_document)
        made.document, made.expected = made_document, built.expected
    except ImpossibleError as error:
        made.problem = Reason.of(Code.SKELETON_NOT_BUILT, error=str(error))
    with transaction.atomic():
        made.save()
        if actor is not None:
            audit(actor, "skeleton.build", row.application, ranks=row.ranks, skeleton=made.pk)
    log.info("application %s: %s, %s", row.application.slug, made, made.problem.dump() or f"{made.expected:.3g} s")
    return made


def build_due() -> int:
    """Build the skeletons of traced profiles that have none, newest first; how many.

    Whatever one of them fails by is kept as its problem, so that it holds up no other and is not tried for ever. A
    profile that another worker is at is left to that.
    """
    built = 0
    for row in due()[:5]:
        with _lease.hold(Profile.objects.filter(pk=row.pk)) as mine:
            if mine and due().filter(pk=row.pk).exists():  # another worker may have built it since
                built += _build_due(row)
    return built


def _build_due(row: Profile) -> bool:
    """Whether a skeleton could be built of a profile that this worker leases."""
    try:
        traced = _traced(row)
        _built(row, traced, usual_target(traced.wall), None)
        return True
    except (GridPortalError, OSError) as error:
        log.warning("profile %s: no skeleton could be built: %s", row.pk, error)
        _keep_problem(row, Reason.of(Code.SKELETON_NOT_BUILT, error=str(error)))
    except Exception as error:
        log.exception("profile %s: no skeleton could be built", row.pk)
        _keep_problem(row, Reason.of(Code.SKELETON_BUILD_FAILED, error=type(error).__name__))
    return False


def due() -> QuerySet[Profile]:
    """The profiles that are still to get a skeleton; none when PORTAL.skeleton_auto is off."""
    rows = Profile.objects.filter(skeletons=None).exclude(trace_file="").exclude(program="")
    rows = rows.select_related("application")
    return rows if settings.PORTAL.skeleton_auto else rows.none()


def usual_target(seconds: float) -> float:
    """How long the skeleton of an application that took so many seconds is to take."""
    portal = settings.PORTAL
    room = trial_budget.budget(seconds, portal.trial_seconds or math.inf, portal.trial_share)
    return trial_budget.target(seconds, portal.skeleton_share, room)


def best(application: Application, given: Mapping[str, Any], ranks: int) -> Skeleton | None:
    """The newest usable skeleton of just these parameters, without its document; what others take says little."""
    rows = usable(application).filter(ranks=ranks)
    if not rows.exists():
        return None
    return rows.filter(parameters_key=stored_profiles.parameters_key(application, given)).first()


def usable(application: Application) -> QuerySet[Skeleton]:
    """Those that can be run and are not stale, newest first, without their documents."""
    program = stored_profiles.program_key(application)
    return application.skeletons.filter(program=program, document__isnull=False).defer("document")


def best_figures(application: Application, given: Mapping[str, Any], ranks: int) -> SkeletonFigures | None:
    """What a trial with the best skeleton is planned with; None without one."""
    row = best(application, given, ranks)
    if row is None or row.expected is None or row.seconds is None:
        return None
    work = Skeleton.objects.values_list("document__application__work", flat=True).get(pk=row.pk)
    sizes = profile.parse(row.profile.document).sizes
    return SkeletonFigures(row.pk, row.expected, row.seconds, [float(one) for one in work], sizes)


def why_none(application: Application, given: Mapping[str, Any], ranks: int) -> Reason:
    """Why `best_figures` finds none: none can be made of just these parameters, or those there are have others. No
    reason for a program that has none."""
    failed = application.skeletons.filter(program=stored_profiles.program_key(application), document__isnull=True)
    same = failed.filter(ranks=ranks, parameters_key=stored_profiles.parameters_key(application, given))
    if why := next((row.problem for row in same[:1] if row.problem), NOTHING):
        return Reason.of(Code.SKELETON_IMPOSSIBLE, ranks=ranks, why=why)
    return Reason.of(Code.NO_SKELETON, ranks=ranks) if usable(application).exists() else NOTHING


def is_stale(row: Skeleton) -> bool:
    """Whether the application is started in another way now than when its trace was made."""
    return row.program != stored_profiles.program_key(row.application)


def skeletons_of(application: Application) -> list[Skeleton]:
    """All of an application, newest first, without their documents."""
    return list(application.skeletons.defer("document").select_related("application"))


def replaced(rows: Iterable[Skeleton]) -> set[int]:
    """The numbers of those for which `best` takes a newer one of their ranks and parameters. `rows`: newest first."""
    newest: dict[tuple[int, str], int] = {}
    usable_rows = [row for row in rows if not row.problem and not is_stale(row)]
    return {row.pk for row in usable_rows if newest.setdefault((row.ranks, row.parameters_key), row.pk) != row.pk}


def remember(row: Skeleton, prediction: BestPrediction) -> None:
    """Keep the least that it ever predicted: what the application takes where nobody disturbs it."""
    if row.reference is None or prediction.predicted < row.reference.predicted:
        Skeleton.objects.filter(pk=row.pk).update(reference=prediction)


def _keep_problem(row: Profile, problem: Reason) -> None:
    _of_profile(row, problem=problem).save()


def _of_profile(row: Profile, **columns: Any) -> Skeleton:
    """A new one, not written yet."""
    return Skeleton(
        profile=row,
        application=row.application,
        parameters=row.parameters,
        parameters_key=row.parameters_key,
        ranks=row.ranks,
        program=row.program,
        **columns,
    )


def _check_size(made: Mapping[str, object]) -> None:
    size = len(json.dumps(made, allow_nan=False))
    if size > MOST_BYTES:
        raise ImpossibleError(f"The skeleton would be {size / 2**20:.0f} MiB, and it may be {MOST_BYTES // 2**20}.")
