"""Trying an application's patterns on a sample of its output, while they are typed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST

from gridportal.accounts.caller import caller
from gridportal.base import run_directory, run_files
from gridportal.base.run_directory import RunFileError
from gridportal.web.unread_body import read_rest
from scheduling.jobs.core.states import FINAL
from scheduling.jobs.models import Application, Job
from scheduling.pages import output_findings, selectors
from scheduling.pages.output_fields import PARTS, OutputFields
from scheduling.runs import selectors as runs_selectors

_PAGE = "scheduling/application/findings.html"
#: Characters of a sample, and bytes of a form beyond all bounds that are read before it is refused.
MOST_SAMPLE, _MOST_READ = 200_000, 64 * 2**20
#: Past jobs whose logs are offered.
_OFFERED = 10


def past_jobs(request: HttpRequest, application: Application | None) -> list[Job]:
    """The newest jobs of an application that are over and that this person may see."""
    if application is None:
        return []
    over = selectors.jobs_visible_to(caller(request)).filter(application=application, state__in=list(FINAL))
    return list(over.filter(runs__isnull=False).distinct().order_by("-id")[:_OFFERED])


def check_may_try(request: HttpRequest) -> None:
    """Raises PermissionDenied for who may neither register applications nor bring a program."""
    if not request.user.has_perm("scheduling.submit_job"):
        check_may_register(request)


def check_may_register(request: HttpRequest) -> None:
    """Raises PermissionDenied where this person may not register applications or change them."""
    if not request.user.has_perm("scheduling.register_application"):
        raise PermissionDenied("Applications are registered and changed by administrators only.")


@require_POST
@csrf_exempt  # which would read the form before it can be said that it is too long; `_tried` checks the token
def try_patterns(request: HttpRequest) -> HttpResponse:
    """What the patterns of the form find in the pasted text, else in the log of the chosen job; nothing is written."""
    try:
        too_long = len(request.POST.get("sample", "")) > MOST_SAMPLE
    except RequestDataTooBig:
        read_rest(request, _MOST_READ)  # else the browser gets no answer
        too_long = True
    return _refused(request) if too_long else _tried(request)


def _refused(request: HttpRequest) -> HttpResponse:
    """What was found before goes; beside the sample stands how long it may be."""
    nothing = [output_findings.FieldFinding(part, []) for part in PARTS]
    sentence = f"The sample is too long. Paste at most {MOST_SAMPLE:,} characters."
    return render(request, _PAGE, {"findings": nothing, "sample_problem": sentence})


@csrf_protect
def _tried(request: HttpRequest) -> HttpResponse:
    check_may_try(request)
    form = OutputFields(request.POST)
    form.is_valid()
    text, job = request.POST.get("sample", ""), _job(request)
    problem = ""
    try:
        with _log(job if not text else None) as log:
            findings = output_findings.findings(form, text or log)
    except RunFileError as error:
        problem, findings = str(error), output_findings.findings(form, None)
    context = {"findings": findings, "problem": problem}
    return render(request, _PAGE, context)


def _job(request: HttpRequest) -> Job | None:
    """The job whose log is looked through; none for a number that is none, or of a job that this person may not see."""
    number = request.POST.get("job", "")
    if not number.isascii() or not number.isdigit() or len(number) > 17:
        return None
    return selectors.jobs_visible_to(caller(request)).filter(pk=int(number)).first()


@contextmanager
def _log(job: Job | None) -> Iterator[BinaryIO | None]:
    """The log of its newest run, open; None where there is none. Raises RunFileError."""
    run = runs_selectors.last_run(job) if job else None
    directory = runs_selectors.directory_of(run) if run else None
    file = run_directory.open_plain(directory, run_files.OUTPUT) if directory else None
    if file is None:
        yield None
        return
    with file:
        yield file
