"""The profiles of applications: kept from traced jobs and watched runs, and the pattern that the selection takes."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from gridportal.base import run_directory, run_files
from gridportal.base.errors import InputError
from gridportal.base.reasons import NOTHING, Code, Reason
from gridportal.base.run_directory import RunFileError
from scheduling.jobs.core import parameters
from scheduling.jobs.core.parameters import Value
from scheduling.jobs.core.patterns import Pattern
from scheduling.jobs.models import Application
from scheduling.profiles.adapters import trace_library
from scheduling.profiles.core import profile, profile_uses, trace, trace_loss
from scheduling.profiles.core.profile import Profile
from scheduling.profiles.core.profile_names import LATENCY, OWN, PAIRS
from scheduling.profiles.core.profile_uses import Candidate, ProfileUse
from scheduling.profiles.core.trace import Trace
from scheduling.profiles.models import Profile as Row
from scheduling.runs.adapters import recorder
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
from scheduling.runs.services.isolation import isolated, note
from scheduling.runs.services.start_hints import called_inside

log = logging.getLogger(__name__)
#: The name of a job's pattern that stands for the application's profile.
DISCOVERED = "discovered"
_MAX_RANK_FILE = 16 * 2**20
_MAX_TRACE = 64 * 2**20


def pattern(application: Application, given: Mapping[str, Any], ranks: int) -> Pattern:
    """The discovered pattern, weights in bytes. Raises InputError when there is no profile on so many ranks."""
    row = best(application, given, ranks)
    if row is None:
        why = f"a pattern by name: {application.name} has no profile on {ranks} ranks that is not stale"
        raise InputError("pattern", DISCOVERED, f"{why}; run it once with tracing on")
    return replace(profile.parse(row.document).pattern, name=DISCOVERED)


def best(application: Application, given: Mapping[str, Any], ranks: int) -> Row | None:
    """The newest profile that is not stale: of these parameters, else of others, for sizes change the weights first."""
    rows = [row for row in application.profiles.filter(ranks=ranks).defer("document") if not is_stale(row)]
    same = parameters_key(application, given)
    return next((row for row in rows if row.parameters_key == same), rows[0] if rows else None)


def uses(rows: Sequence[Row]) -> list[ProfileUse]:
    """Which jobs take each of the profiles of an application, which come newest first."""
    return profile_uses.uses([Candidate(row.ranks, _key_now(row), is_stale(row), run_failed(row)) for row in rows])


def _key_now(row: Row) -> str | None:
    """What its parameters are found by now; None where no job can have them any more."""
    try:
        key = parameters_key(row.application, row.parameters)
    except InputError:
        return None
    return key if key == row.parameters_key else None


def is_stale(row: Row) -> bool:
    """Whether the application is started in another way now than when it was observed, or that run failed."""
    return row.program != program_key(row.application)


def run_failed(row: Row) -> bool:
    """Whether the run that was observed failed before all of its ranks had called MPI_Finalize."""
    return not row.program


def warning(row: Row) -> Reason:
    """Why a skeleton built from this profile tells little; none where nothing speaks against it."""
    return profile.warning(row.document.get("computing"), row.document.get("waiting"))


def program_key(application: Application) -> str:
    """A digest of all that says which program it is and how it starts."""
    names = ("command", "environment", "launcher", "modules", "mpi")
    return _digest([getattr(application, name) for name in names])


def parameters_key(application: Application, given: Mapping[str, Any]) -> str:
    """A digest of the parameters as they count, defaults filled in."""
    return _digest(_typed(application, given))


def keep(
    application: Application,
    given: Mapping[str, Any],
    observed: Profile,
    *,
    traced: Trace | None = None,
    run: Run | None = None,
) -> Row:
    """Keep a profile, with the trace that it was made of. No job takes that of a `run` that failed half way."""
    with transaction.atomic():
        row = Row.objects.create(
            application=application,
            parameters=_typed(application, given),
            parameters_key=parameters_key(application, given),
            ranks=observed.ranks,
            source=observed.source,
            program="" if run and traced and _failed_half_way(run, traced) else program_key(application),
            pattern=observed.recognized.name,
            document=profile.document(observed),
            run=run,
        )
        if traced is not None:
            folder = Path(settings.PORTAL.home) / "profiles"
            folder.mkdir(parents=True, exist_ok=True)
            row.trace_file = str(trace_library.save(traced, folder / f"{row.pk}.json.gz"))
            row.save(update_fields=["trace_file"])
    log.info("application %s: profile %s from %s on %s ranks", application.slug, row.pk, row.source, row.ranks)
    return row


def keep_trace(run: Run) -> Reason:
    """Make the profile of a run that was traced and is over; why there is none, or what is odd about it.

    Raises RunFileError or InputError for files that are damaged. The job's outcome does not hang on it.
    """
    directory, ranks = Path(run.run_dir), run.job.ranks
    documents, copies = list(_files(directory, ranks)), trace_library.copies_of_ranks(directory, run_files.TRACE)
    if not documents and not _could_record(run):
        return Reason.of(Code.TRACE_NO_LIBRARY)
    unseen = NOTHING if documents else trace_loss.why_unseen(run.exit_code, called_inside(run))
    lost = trace_loss.loss(documents, copies, ranks, begun=trace_library.has_begun(directory), unseen=unseen)
    if lost:
        return lost
    merged = trace.merge(documents)
    keep(run.job.application, run.job.parameters, profile.of_trace(merged), traced=merged, run=run)
    return trace_loss.remark(copies, ranks)


def _failed_half_way(run: Run, traced: Trace) -> bool:
    """Whether its program failed by itself, with ranks that had not called MPI_Finalize: nobody knows what these would
    have sent. One that was ended by its time limit, or stopped, came as far as its trace says."""
    if run.state != RunState.FAILED or run.stopped or run.reason.facts.get("why"):
        return False
    return not all(process.complete for process in traced.processes)


def keep_trace_of(run: Run) -> None:
    """The profile of a run that is over, where its job asked for a trace; why there is none is kept with the run.

    One that never started has nothing to record.
    """
    if not run.job.trace or run.started_at is None:
        return
    outcome = isolated(f"job {run.job_id}: its trace", lambda: _reason(run))
    note(run, outcome.failure)
    if outcome.value:
        log.warning("job %s: %s", run.job_id, outcome.value.dump())
        run.trace_reason = outcome.value
        Run.objects.filter(pk=run.pk).update(trace_reason=outcome.value)


def _reason(run: Run) -> Reason:
    try:
        return keep_trace(run)
    except (InputError, RunFileError) as error:
        return Reason.of(Code.TRACE_UNREADABLE, error=str(error))


def _could_record(run: Run) -> bool:
    """Whether its script starts the program with the library."""
    return recorder.DIRECTORY_VARIABLE in run.script


def traced(row: Row) -> Trace | None:
    """The whole trace of a profile, for skeletons; None for one from monitoring. Raises InputError when it is gone."""
    return trace_library.load(row.trace_file) if row.trace_file else None


def profiles_of(application: Application) -> list[Row]:
    """All profiles of an application, newest first, without their documents, which have a figure for each pair of
    ranks."""
    return list(application.profiles.defer("document", "run__script").select_related("application", "run"))


def pattern_name(row: Row) -> str:
    """The pattern in words. Of two ranks earlier versions kept the first name of the same graph."""
    if row.ranks == 2 and row.pattern not in (OWN, LATENCY, "ep"):
        return PAIRS
    return {OWN: "a pattern of its own", LATENCY: "bound by latency"}.get(row.pattern, row.pattern)


def choices(application: Application) -> list[int]:
    """The numbers of ranks for which the discovered pattern can be chosen."""
    return sorted({row.ranks for row in application.profiles.defer("document") if not is_stale(row)})


def _files(directory: Path, ranks: int) -> Iterator[Any]:
    """What the ranks wrote, as far as it is there. Raises RunFileError, InputError for more than is read."""
    left = _MAX_TRACE
    for rank in range(ranks):
        name = f"{run_files.TRACE}/{run_files.TRACE_RANK.format(rank=rank)}"
        size = run_directory.read_part(directory, name, 0, 0).size
        left -= size
        if left < 0 or size > _MAX_RANK_FILE:
            most = f"at most {_MAX_TRACE >> 20} MiB of all ranks and {_MAX_RANK_FILE >> 20} MiB of one"
            raise InputError("trace", "too large", f"{most}: record a run with fewer ranks, or fewer different calls")
        if (document := run_directory.read_json(directory, name, _MAX_RANK_FILE)) is not None:
            yield document


def _typed(application: Application, given: Mapping[str, Any]) -> dict[str, Value]:
    return parameters.validate(parameters.parse(application.parameters), dict(given))


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]
