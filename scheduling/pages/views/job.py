"""One job and its runs: their pages, the parts of these that live, logs and scripts, and what one can do with a job."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_POST, require_safe

from gridportal.accounts.caller import caller
from gridportal.base import run_directory, run_files
from gridportal.base.errors import BusyError, GridPortalError
from gridportal.base.run_directory import RunFileError
from gridportal.web.downloads import as_download
from gridportal.web.form_errors import page_text
from gridportal.web.long_answers import long_answer
from gridportal.web.required_permission import require_permission
from gridportal.web.result_messages import add_note, add_result
from scheduling import tasks
from scheduling.contracts.selectors.run_ends import expected_ends
from scheduling.jobs.models import Job
from scheduling.jobs.services import job_inputs
from scheduling.matching.services.matches_at_once import match_of
from scheduling.notices.views import job_context
from scheduling.pages.requirement_matches import job_match
from scheduling.pages.run_file_access import refusal
from scheduling.pages.views import refused_moves
from scheduling.pages.views.story import run_story, story
from scheduling.placing.services import start_estimate, submission
from scheduling.runs import selectors
from scheduling.runs.models import Run
from scheduling.runs.services import queue_actions
from scheduling.runs.services.by_hand import script_by_hand

PIECE = 200_000


def visible_job(request: HttpRequest, pk: int) -> Job:
    """The job. Raises Http404, also for one that this person may not see: who asks learns no more than of none."""
    job = get_object_or_404(Job.objects.select_related("owner", "application"), pk=pk)
    if not request.user.has_perm("scheduling.view_job", job):
        raise Http404
    return job


@require_safe
def job(request: HttpRequest, pk: int) -> HttpResponse:
    """The story of a job, from top to bottom."""
    shown_job = visible_job(request, pk)
    context = story(shown_job, caller(request)) | job_context(caller(request), shown_job)
    context |= {
        "ways": start_estimate.ways_to_start(shown_job, expected_ends),
        "refused_move": refused_moves.take(request, pk),
    }
    return render(request, "scheduling/job.html", context)


@require_safe
def live(request: HttpRequest, pk: int) -> HttpResponse:
    """The part of the page that changes."""
    shown_job = visible_job(request, pk)
    context = story(shown_job, caller(request))
    context |= {"ways": start_estimate.ways_to_start(shown_job, expected_ends), "fragment": True}
    response = render(request, "scheduling/_job_live.html", context)
    patch_cache_control(response, no_store=True)
    return response


@require_safe
def requirements(request: HttpRequest, pk: int) -> HttpResponse:
    """Clause by clause how many nodes are what the job asks for."""
    shown_job = visible_job(request, pk)
    try:
        with long_answer(caller(request).pk), match_of(caller(request).pk, text=shown_job.classad):
            context = {"job": shown_job, "match": job_match(shown_job)}
    except BusyError as error:
        busy = render(request, "scheduling/job_requirements.html", {"job": shown_job, "busy": error}, status=429)
        busy["Retry-After"] = str(error.retry_after)
        return busy
    return render(request, "scheduling/job_requirements.html", context)


def visible_run(request: HttpRequest, pk: int, number: int) -> Run:
    """The run, or a refusal in words, or 404."""
    its_run = selectors.run_of(visible_job(request, pk), number)
    if its_run is None:
        raise Http404(f"Job {pk} has no run {number}.")
    return its_run


def _run(request: HttpRequest, pk: int, number: int | None) -> Run | None:
    """The run of this number, else the newest of the job, which may have none."""
    return selectors.last_run(visible_job(request, pk)) if number is None else visible_run(request, pk, number)


@require_safe
def run(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """What there is to tell of one run."""
    return render(request, "scheduling/run.html", run_story(visible_run(request, pk, number)))


@require_safe
def run_live(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """The part of that page that changes."""
    context = run_story(visible_run(request, pk, number)) | {"fragment": True}
    response = render(request, "scheduling/_run_live.html", context)
    patch_cache_control(response, no_store=True)
    return response


@require_safe
def log(request: HttpRequest, pk: int, number: int | None = None) -> HttpResponseBase:
    """The whole log of a run as a file."""
    run = _run(request, pk, number)
    try:
        return as_download(caller(request).pk, lambda: _whole_log(run, f"{_file_name(pk, number)}.log"))
    except (RunFileError, BusyError) as error:
        return refusal(error)


def _whole_log(run: Run | None, name: str) -> HttpResponseBase:
    """Raises RunFileError."""
    directory = selectors.directory_of(run) if run else None
    file = run_directory.open_plain(directory, run_files.OUTPUT) if directory else None
    if file is None:
        return _download("", name)
    most = 2 * settings.PORTAL.output_limit  # of a log in place of which a program put another file
    response = StreamingHttpResponse(_pieces(file, most), content_type="text/plain; charset=utf-8")
    response["Content-Length"] = min(most, os.fstat(file.fileno()).st_size)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_safe
def log_tail(request: HttpRequest, pk: int, number: int | None = None) -> JsonResponse:
    """What was written to the log after the byte `offset`."""
    run = _run(request, pk, number)
    if run is None:
        return JsonResponse({"text": "", "end": 0, "complete": visible_job(request, pk).is_final, "more": False})
    done = run.job.is_final if number is None else selectors.is_over(run)
    part = selectors.log_tail(run, offset=_offset(request), limit=PIECE, done=done)
    full = len(part.text.encode("utf-8", "replace")) >= PIECE - 4
    return JsonResponse({"text": part.text, "end": part.end, "complete": part.complete, "more": full})


@require_safe
def script(request: HttpRequest, pk: int, number: int | None = None) -> HttpResponse:
    """The script as it was handed to the backend, made so that it runs by hand."""
    run = _run(request, pk, number)
    return _download(script_by_hand(run) if run else "", f"{_file_name(pk, number)}.sh")


@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Stop a job; asking twice is no harm."""
    found = visible_job(request, pk)
    user = caller(request)
    if not user.has_perm("scheduling.cancel_job", found):
        raise PermissionDenied(f"Only its owner or an operator may cancel job {pk}.")
    before = found.state
    try:
        found = submission.cancel_job(user, found)
    except GridPortalError as error:
        messages.error(request, page_text(error))
        return redirect(found)
    if found.state == before:
        add_note(request, f"Job {pk}", found.get_absolute_url(), f"is {before} already. There was nothing to cancel.")
    elif found.state == "cancelling":
        tasks.cancel_run.delay_on_commit(found.pk)
        outcome = "is being cancelled. Its program is stopped on all nodes."
        add_result(request, f"Job {pk}", found.get_absolute_url(), outcome)
    elif found.state == "cancelled":
        add_result(request, f"Job {pk}", found.get_absolute_url(), "is cancelled.")
    else:
        outcome = f"had already {found.state}. There was nothing to cancel."
        add_note(request, f"Job {pk}", found.get_absolute_url(), outcome)
    return redirect(found)


@require_POST
def remove_inputs(request: HttpRequest, pk: int) -> HttpResponse:
    """Let go of the files that came with a job which is over."""
    found = visible_job(request, pk)
    sentence = f"Only its owner lets go of the input files of job {pk}."
    require_permission(request, "scheduling.remove_job_inputs", sentence, found)
    try:
        job_inputs.remove_inputs(caller(request), found)
    except GridPortalError as error:
        messages.error(request, page_text(error))
    else:
        add_result(request, f"Job {pk}", found.get_absolute_url(), "keeps its input files no longer.")
    return redirect(found)


@require_POST
def hold(request: HttpRequest, pk: int) -> HttpResponse:
    """Keep a job from starting that waits in the queue of its cluster."""
    return _control(request, pk, queue_actions.hold_job, "is held. Release it to let it start.")


@require_POST
def release(request: HttpRequest, pk: int) -> HttpResponse:
    """Let a held job start."""
    return _control(request, pk, queue_actions.release_job, "is released. It starts when its nodes are free.")


@require_POST
def requeue(request: HttpRequest, pk: int) -> HttpResponse:
    """Stop a running job and put it back into the queue."""
    return _control(request, pk, queue_actions.requeue_job, "is stopped and back in the queue.")


def _control(request: HttpRequest, pk: int, do: Callable[[Any, Job], Job], message: str) -> HttpResponse:
    shown_job = visible_job(request, pk)
    if not request.user.has_perm("scheduling.control_job", shown_job):
        raise PermissionDenied(f"Only its owner or an operator may hold, release or requeue job {pk}.")
    try:
        do(caller(request), shown_job)
    except GridPortalError as error:
        messages.error(request, page_text(error))
    else:
        add_result(request, f"Job {pk}", shown_job.get_absolute_url(), message)
    return redirect(shown_job)


@require_safe
def resubmit(request: HttpRequest, pk: int) -> HttpResponse:
    """The form, filled from this job."""
    shown_job = visible_job(request, pk)
    return redirect(f"{reverse('submit')}?application={shown_job.application.slug}&from={pk}")


def _file_name(pk: int, number: int | None) -> str:
    return f"job-{pk}" if number is None else f"job-{pk}-run-{number}"


def _offset(request: HttpRequest) -> int:
    text = request.GET.get("offset", "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else 0


def _pieces(file: BinaryIO, most: int) -> Iterator[bytes]:
    """What is in a file now, at most `most` bytes; the file is closed at the end."""
    with file:
        left = min(most, os.fstat(file.fileno()).st_size)
        while left > 0 and (piece := file.read(min(PIECE, left))):
            left -= len(piece)
            yield piece


def _download(text: str, name: str) -> HttpResponse:
    response = HttpResponse(text, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
