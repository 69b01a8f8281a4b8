"""Handing placed runs to their backend, each once, whoever is killed on the way.

Many are handed over together: what is asked of rows is asked once for all, and several submissions are under way at
a time where the cluster answers slowly. No thread of a submission touches the database.
"""

from __future__ import annotations

import errno
import logging
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from django.conf import settings
from django.utils import timezone

from gridportal.base.batch_system import Backend
from gridportal.base.clusters import Cluster
from gridportal.base.disk_errors import FULL, UNWRITABLE
from gridportal.base.errors import BackendError, InputError, LaterError
from gridportal.base.reasons import Code, Reason
from monitoring.clusters.selectors import traits
from scheduling.jobs.core.input_files import read_all
from scheduling.jobs.core.states import FINAL, JobState
from scheduling.jobs.models import Job
from scheduling.jobs.selectors import uploaded_programs
from scheduling.jobs.services.leases import MAX_ATTEMPTS, acquire_all, keep, pause, release, release_all
from scheduling.jobs.services.program_clusters import check_cluster
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
from scheduling.runs.services.backends import backend, cluster_setting, silence_reason, slurm_options
from scheduling.runs.services.steps import advance_run, note_submitted
from scheduling.runs.services.submissions import ForgottenError, cancel, is_refused, submit

log = logging.getLogger(__name__)
#: What a file system says that is locked, or away for a while: not the job's fault, and it may pass.
_AWAY = (
    *(errno.EPERM, errno.EACCES, errno.EIO, errno.ESTALE, errno.ENOTCONN, errno.EHOSTDOWN),
    *(errno.ETIMEDOUT, errno.EMFILE, errno.ENFILE, errno.ENOMEM),
)
#: So many jobs are in one worker's hand at most, and for so long, in seconds, an answer may be known to it alone.
_BATCH = 64
_WRITTEN_EVERY = 0.5
#: Seconds that a thread computes while others wait for their turn.
_TURN = 0.0002


class _Handing(NamedTuple):
    """A run that is handed over, and to whom."""

    job: Job
    run: Run
    to: Backend
    cluster: Cluster
    program: bytes | None


def start_runs(job_ids: Sequence[int]) -> int:
    """Submit the runs of jobs that are starting, in this order; how many the backends have now.

    A run's key makes this idempotent. A run that left traces in its directory was started before: when the backend
    does not know it any more it is not started again but judged by polling.
    """
    return start_batches(_acquire(part) for part in _parts(job_ids))


def start_batches(batches: Iterable[Sequence[Run]]) -> int:
    """The same for batches of runs, the jobs of each in one hand; while one batch is submitted slowly, the next is
    already taken from `batches`."""
    started = 0
    with _turns(), ThreadPoolExecutor(settings.PORTAL.submit_at_once, "submit") as pool, ExitStack() as stack:
        before: _Going | None = None
        for batch in batches:
            going = _start(batch, pool, stack)
            started += before.finish() if before else 0
            before = going
        return started + (before.finish() if before else 0)


@contextmanager
def _turns() -> Iterator[None]:
    """Let threads that submit go on while the main thread computes: each of their many short system calls gives the
    interpreter's lock away, and would wait the usual 5 ms for it every time."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


def _parts(job_ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """Batches; a job whose worker was lost before is alone, so that one that kills workers takes no others with it."""
    lost = set(Job.objects.filter(pk__in=job_ids, attempts__gt=0).values_list("pk", flat=True))
    calm = [job_id for job_id in job_ids if job_id not in lost]
    yield from (calm[at : at + _BATCH] for at in range(0, len(calm), _BATCH))
    yield from ([job_id] for job_id in job_ids if job_id in lost)


def _acquire(job_ids: Sequence[int]) -> list[Run]:
    """Lease jobs that are starting; their runs, with their placements, where there is something to hand over."""
    jobs = acquire_all(job_ids, (JobState.STARTING,))
    rows = Run.objects.filter(job__in=jobs, state=RunState.PREPARED).select_related("placement")
    runs = {run.job_id: run for run in rows.defer("placement__candidates")}
    release_all([job for job in jobs if job.pk not in runs])
    found = []
    for job in jobs:
        run = runs.get(job.pk)
        if run is not None:
            run.job = job
            found.append(run)
    return found


def _start(runs: Sequence[Run], pool: ThreadPoolExecutor, stack: ExitStack) -> _Going | None:
    if not runs:
        return None
    lease = stack.enter_context(ExitStack())
    lease.enter_context(keep(runs[0].job.lease_holder))
    ready = list(_ready(runs))
    return _Going(ready, pool if ready and traits(ready[0].job.cluster).answers_slowly else None, lease)


_Ended = tuple[_Handing, str | Exception]


class _Going:
    """Submissions under way, several at once where the cluster answers slowly; else each in its turn when it is asked
    how they went."""

    def __init__(self, ready: Sequence[_Handing], pool: ThreadPoolExecutor | None, lease: ExitStack) -> None:
        self._ready, self._lease = ready, lease
        self._going: dict[Future[str | Exception], _Handing] = {}
        if pool is not None:
            self._going = {pool.submit(_outcome, each): each for each in ready}

    def finish(self) -> int:
        """Wait for all of them; how many runs their backends have."""
        with self._lease:
            return _settle_in_time(self._all_at_once() if self._going else self._in_turn())

    def _in_turn(self) -> Iterator[_Ended]:
        return ((each, _outcome(each)) for each in self._ready)

    def _all_at_once(self) -> Iterator[_Ended]:
        return ((self._going[future], future.result()) for future in as_completed(self._going))


def _ready(runs: Sequence[Run]) -> Iterator[_Handing]:
    """What can be handed over; what nobody can take is let go of."""
    backends: dict[Any, Backend] = {}
    programs = uploaded_programs([run.job.application for run in runs])
    for run in runs:
        job = run.job
        try:
            if job.attempts > MAX_ATTEMPTS:
                raise BackendError(f"Its worker was lost {MAX_ATTEMPTS} times while starting it.")
            to, cluster = _backend_of(job, backends), cluster_setting(job.cluster)
            check_cluster(job.application, cluster)
            yield _Handing(job, run, to, cluster, programs.get(job.application_id))
        except (BackendError, InputError) as error:
            _not_started(job, run, error)


def _backend_of(job: Job, backends: dict[Any, Backend]) -> Backend:
    """The backend for this person and these options; the same for all jobs that have both in common."""
    key = (job.cluster, job.owner_id, repr(job.options))
    if key not in backends:
        backends[key] = backend(job.cluster, job.owner, slurm_options(job.options, job.cluster))
    return backends[key]


def _outcome(each: _Handing) -> str | Exception:
    """What the backend knows the run by, or why it could not be handed over."""
    try:
        return _hand_over(each)
    except (BackendError, InputError, OSError) as error:
        return error


def _hand_over(each: _Handing) -> str:
    run, inputs = each.run, read_all(each.job.inputs)
    try:
        return submit(
            run, each.to, each.cluster, run.placement.nodes, each.job.time_limit, program=each.program, inputs=inputs
        )
    except ForgottenError as error:
        log.warning("%s", error)
        return run.key


def _settle_in_time(outcomes: Iterable[_Ended]) -> int:
    """Write them down together, at the latest every half a second; how many runs their backends have."""
    started, ended, written = 0, list[_Ended](), time.monotonic()
    for outcome in outcomes:
        ended.append(outcome)
        if time.monotonic() - written > _WRITTEN_EVERY:
            started, ended, written = started + _settle(ended), [], time.monotonic()
    return started + _settle(ended)


def _settle(ended: Sequence[_Ended]) -> int:
    """Write the outcomes down; how many runs their backends have."""
    taken = [(each, outcome) for each, outcome in ended if isinstance(outcome, str)]
    for each, outcome in ended:
        if not isinstance(outcome, str):
            _not_started(each.job, each.run, outcome)
    if taken:
        _taken(taken)
    return len(taken)


def _taken(taken: Sequence[tuple[_Handing, str]]) -> None:
    note_submitted({each.run.pk: backend_id for each, backend_id in taken})
    for each, backend_id in taken:
        each.run.backend_id = backend_id
        log.info("job %s: %s handed to the backend at %s", each.job.pk, each.run.key, timezone.now().isoformat())
    late = [each for each, _ in taken if each.job.reason != each.run.reason]
    for each in late:  # it was told why it could not be handed over
        release(each.job, reason=each.run.reason)
    release_all([each.job for each, _ in taken if each not in late])
    _cancel_if_over([each for each, _ in taken])


def _not_started(job: Job, run: Run, error: Exception) -> None:
    """Wait for a backend that does not answer, or a disk that is full or away; fail what a backend that answers
    refuses."""
    log.warning("job %s: %s could not be started: %s", job.pk, run.key, error)
    if isinstance(error, OSError) and error.errno in (*UNWRITABLE, *_AWAY):
        code = Code.NO_ROOM if error.errno in FULL else Code.NO_DIRECTORY
        release(job, reason=Reason.of(code, error=str(error)))
        return
    if isinstance(error, LaterError):
        pause(job, reason=Reason.of(Code.LATER, error=str(error)))
        return
    if not is_refused(run, error):
        release(job, reason=silence_reason(job.cluster, str(error)))
        return
    reason = Reason.of(Code.NOT_STARTED, error=str(error))
    advance_run(run, RunState.FAILED, reason, holder=job.lease_holder, ended_at=timezone.now())


def _cancel_if_over(taken: Sequence[_Handing]) -> None:
    """A worker that was held up past its lease may submit a run whose job is over by now: take it back."""
    final = [state.value for state in FINAL]
    over = set(Job.objects.filter(pk__in=[each.job.pk for each in taken], state__in=final).values_list("pk", flat=True))
    for each in taken:
        if each.job.pk in over:
            cancel(each.run)
