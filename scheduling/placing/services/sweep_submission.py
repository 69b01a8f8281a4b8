"""Submitting a sweep: all its jobs are checked before, and all of them are created, or none is."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.db import IntegrityError, transaction

from gridportal.accounts.models import User
from gridportal.base.errors import ConflictError, GridPortalError, ImpossibleError, InputError
from gridportal.base.reasons import Reason
from monitoring.clusters.selectors import setting
from scheduling.jobs.core.parameters import Value
from scheduling.jobs.core.sweep import RANKS, Axes, check_size, point_text, points
from scheduling.jobs.group_models import JobGroup
from scheduling.jobs.models import Job
from scheduling.jobs.selectors import Before
from scheduling.jobs.services.dependencies import check_dependencies
from scheduling.jobs.services.job_inputs import check_inputs
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.jobs.services.program_clusters import check_use
from scheduling.placing.services.admission import check_admission
from scheduling.placing.services.project_checks import check_project
from scheduling.placing.services.requests import CheckedRequest, check
from scheduling.placing.services.submission import asks_otherwise, create_job, with_project
from scheduling.runs.services.backends import check_owner

log = logging.getLogger(__name__)


def submit_sweep(owner: User, request: JobSpec, axes: Axes, source: Job | None = None) -> tuple[JobGroup, bool]:
    """Write down a job for each combination of the axes' values, and whether the sweep is new. `source`: the job that
    the form was filled from.

    The caller has the jobs placed. The same request_key twice gives the same sweep. Raises InputError or
    ImpossibleError for the first combination that cannot be, ConflictError for a key that made another sweep, and
    BusyError while the portal does not take so many.
    """
    key = request.request_key or uuid.uuid4()
    if (earlier := _same_request(owner, key, request, axes)) is not None:
        return earlier, False
    check_size(axes)
    combinations = points(axes)
    check_admission(len(combinations))
    check_use(owner, request.application, setting(request.cluster))
    check_owner(setting(request.cluster), owner)
    checked = [_checked(request, point, owner.username) for point in combinations]
    hold = check_project(with_project(owner, request, None).project)
    befores = check_dependencies(owner, request)
    check_inputs(owner, request.inputs, source)
    try:
        with transaction.atomic():
            return _create(owner, request, axes, key, checked, befores, hold), True
    except IntegrityError:
        earlier = _same_request(owner, key, request, axes)
        if earlier is None:
            raise
        return earlier, False


def spec_at(request: JobSpec, point: Mapping[str, Value]) -> JobSpec:
    """What is asked for with one combination of the values."""
    own = {name: value for name, value in point.items() if name != RANKS}
    ranks = int(point[RANKS]) if RANKS in point else request.ranks
    return replace(request, parameters={**request.parameters, **own}, ranks=ranks, request_key=None)


def _checked(request: JobSpec, point: Mapping[str, Value], user: str) -> CheckedRequest:
    try:
        return check(spec_at(request, point), user)
    except InputError as error:
        raise InputError(error.field, error.value, f"{error.accepted} (with {point_text(point)})") from error
    except GridPortalError as error:
        raise ImpossibleError(f"With {point_text(point)}: {error}") from error


def _same_request(owner: User, key: uuid.UUID, request: JobSpec, axes: Axes) -> JobGroup | None:
    """The sweep that this key has made. Raises InputError for one of somebody else, ConflictError for another sweep."""
    group = JobGroup.objects.filter(request_key=key).first()
    if group is not None and group.owner_id != owner.pk:
        raise InputError("request_key", str(key), "a key that no other person's sweep has")
    if group is None and (job := Job.objects.filter(request_key=key, owner=owner).first()) is not None:
        raise ConflictError(f"This request_key has made job {job.pk} already; send another key for a sweep.")
    if group is not None and _is_another(owner, group, request, axes):
        raise ConflictError(
            f"This request_key has made sweep {group.pk} already, of other values; send another key for another sweep."
        )
    return group


def _is_another(owner: User, group: JobGroup, request: JobSpec, axes: Axes) -> bool:
    """Whether a request is not the one that made the sweep. All its jobs are alike but for the axes: the first one
    tells."""
    if group.values_by_axis != {name: list(values) for name, values in axes.items()}:
        return True
    first = group.jobs.order_by("pk").first()
    return first is not None and asks_otherwise(owner, first, spec_at(request, points(axes)[0]))


def _create(
    owner: User,
    request: JobSpec,
    axes: Axes,
    key: uuid.UUID,
    checked: list[CheckedRequest],
    befores: Sequence[Before],
    hold: Reason,
) -> JobGroup:
    group = JobGroup.objects.create(
        owner=owner,
        application=request.application,
        name=request.name.strip(),
        axes=[{"name": name, "values": list(values)} for name, values in axes.items()],
        request_key=key,
    )
    for each in checked:
        create_job(owner, each, uuid.uuid4(), befores, hold=hold, group=group)
    log.info("sweep %s: submitted by %s (%d jobs)", group.pk, owner, len(checked))
    return group
