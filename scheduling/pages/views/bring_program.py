"""Programs that people bring themselves: the form, sharing, offering, publishing, and a test run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from rest_framework import serializers

from gridportal.accounts.caller import caller
from gridportal.accounts.changed_meanwhile import ChangedMeanwhileError, changes_of, rows_of, unless_changed
from gridportal.base import bounded_json
from gridportal.base.bounded_json import UnreadableError
from gridportal.base.errors import ConflictError, GridPortalError, SeveralInputsError
from gridportal.base.reasons import Code
from gridportal.web.form_errors import page_text
from gridportal.web.required_permission import require_permission
from gridportal.web.result_messages import add_result
from gridportal.web.worded_form import WordedForm
from scheduling import tasks
from scheduling.jobs.models import Application
from scheduling.jobs.ownership_models import OwnProgram
from scheduling.jobs.selectors import usable_applications
from scheduling.jobs.services import own_programs, program_clusters
from scheduling.jobs.services.own_programs import ProgramRequest
from scheduling.messages import message
from scheduling.pages.api_programs import asked_by_document, program_document
from scheduling.pages.batch_values import unread_messages
from scheduling.pages.error_texts import error_texts
from scheduling.pages.program_form import (
    ParameterRows,
    ProgramForm,
    from_program,
    parameter_rows,
    shown_values,
    starts,
)
from scheduling.pages.submitters import require_submitter
from scheduling.pages.views.sample_output import past_jobs
from scheduling.placing.services import program_test
from scheduling.runs.services.program_warnings import program_warnings

#: What a new document begins with.
_FIRST = {
    "name": "",
    "kind": "mpi",
    "path": "",
    "arguments": ["{size}"],
    "mpi": "mpich",
    "parameters": [{"name": "size", "type": "int", "min": 1, "max": 1000, "default": 100}],
    "environment": {},
    "modules": [],
    "ranks": {"min": 1, "max": 64},
}


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, slug: str | None = None) -> HttpResponse:
    """Bring a program, or change one of the own."""
    require_submitter(request)
    application = own_application(request, slug) if slug else None
    if (request.POST if request.method == "POST" else request.GET).get("as") == "json":
        return _edit_json(request, application)
    if request.method != "POST":
        form = ProgramForm(initial=from_program(application) if application else {})
        if application:
            form.show(shown_values(application))
        rows = ParameterRows(prefix="p", initial=parameter_rows(application) if application else None)
        return _page(request, form, rows, application)
    stored = application.program if application else None
    form, rows = ProgramForm(request.POST, request.FILES, stored=stored), ParameterRows(request.POST, prefix="p")
    try:
        saved = _save(request, form, rows, application)
    except ChangedMeanwhileError as error:
        error.show_on(form)
        return _page(request, form, rows, application, 409)
    if saved is None:
        return _page(request, form, rows, application, 422)
    return _saved(request, saved, is_new=application is None)


def _edit_json(request: HttpRequest, application: Application | None) -> HttpResponse:
    """The same as one document, as REST takes it."""
    text = request.POST.get("document", "")
    if request.method != "POST":
        shown = program_document(application) if application else _FIRST
        return _json_page(request, json.dumps(shown, indent=2, ensure_ascii=False), application)
    try:
        document = bounded_json.loads(text)
        saved = _kept(request, asked_by_document(document, application), application)
    except ChangedMeanwhileError as error:
        return _json_page(request, text, application, changed=error)
    except UnreadableError as error:
        return _json_page(request, text, application, [error.sentence])
    except SeveralInputsError as error:
        return _json_page(request, text, application, [str(each) for each in error.errors])
    except serializers.ValidationError as error:
        return _json_page(request, text, application, error_texts(error.detail))
    except ConflictError as error:
        return _json_page(request, text, None, [str(error)])
    return _saved(request, saved, is_new=application is None)


def _json_page(
    request: HttpRequest,
    text: str,
    application: Application | None,
    problems: Sequence[str] = (),
    changed: ChangedMeanwhileError | None = None,
) -> HttpResponse:
    context = {"document": text, "problems": problems, "as_json": True, "program_clusters": clusters_for_programs()}
    context |= {"application": _stored(application), "starts": starts()}
    form = WordedForm(request.POST)
    if changed:
        changed.show_on(form)
    elif application and request.method != "POST":
        form.show(shown_values(application))
    status = 409 if changed else 422 if problems else 200
    return render(request, "scheduling/own_program.html", {**context, "form": form}, status=status)


def _saved(request: HttpRequest, saved: Application, *, is_new: bool) -> HttpResponse:
    shared = "" if saved.shares.exists() else "; nobody else sees it until you share it"
    add_result(request, saved.name, saved.get_absolute_url(), f"is kept{shared}.")
    _tell_unread(request, saved)
    is_tested = "test" in request.POST
    if not is_new and not is_tested:
        return redirect(saved)  # whose page says what speaks against it
    for odd in program_warnings(saved):
        if not (is_tested and odd.code is Code.NEVER_TRIED):
            messages.warning(request, message(odd))
    return _test(request, saved) if is_tested else redirect(f"{reverse('submit')}?application={saved.slug}")


@require_safe
def download(request: HttpRequest, slug: str) -> HttpResponse:
    """The uploaded program, for its owner, those it is shared with, and administrators."""
    user = caller(request)
    administers = user.has_perm("scheduling.register_application")
    rows = Application.objects.all() if administers else usable_applications(user)
    program = get_object_or_404(OwnProgram, application__in=rows, application__slug=slug, content__isnull=False)
    response = HttpResponse(bytes(program.content or b""), content_type="application/octet-stream")
    response["Content-Disposition"] = f'attachment; filename="{slug}"'
    return response


@require_POST
def share(request: HttpRequest, slug: str) -> HttpResponse:
    """Share it with a person or a group, or stop that."""
    application = own_application(request, slug)
    try:
        if number := request.POST.get("stop", ""):
            is_number = number.isascii() and number.isdigit() and len(number) < 18
            row = get_object_or_404(application.shares, pk=int(number) if is_number else 0)
            whom = row.with_whom
            own_programs.stop_sharing(caller(request), row)
            outcome = f"is not shared with {whom} any more."
        else:
            row = own_programs.share_program(caller(request), application, request.POST.get("with", "").strip())
            outcome = f"is shared with {row.with_whom}."
    except GridPortalError as error:
        messages.error(request, page_text(error))
    else:
        add_result(request, application.name, application.get_absolute_url(), outcome)
    return redirect(application)


@require_POST
def offer(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask the administrators to publish it, or ask no more."""
    application = own_application(request, slug)
    offered = "withdraw" not in request.POST
    try:
        own_programs.offer_program(caller(request), application, offered=offered)
    except GridPortalError as error:
        messages.error(request, page_text(error))
        return redirect(application)
    done = "is offered: an administrator decides" if offered else "is not offered any more"
    add_result(request, application.name, application.get_absolute_url(), f"{done}.")
    return redirect(application)


@require_POST
def publish(request: HttpRequest, slug: str) -> HttpResponse:
    """Make an offered program everybody's; administrators only."""
    require_permission(request, "scheduling.register_application", "Programs are published by administrators only.")
    application = get_object_or_404(Application, slug=slug, owner__isnull=False)
    offered_at = _moment(request.POST.get("offered_at", ""))
    try:
        if offered_at is None:
            raise PermissionDenied("Say which offer you mean: publish it from its page.")
        own_programs.publish_program(caller(request), application, offered_at)
        add_result(request, application.name, application.get_absolute_url(), "is published.")
    except GridPortalError as error:
        messages.error(request, page_text(error))
    return redirect(application)


def _moment(text: str) -> datetime | None:
    """A moment with its time zone; None for what is none, or has no place in UTC."""
    try:
        found = parse_datetime(text)
        return found.astimezone(UTC) if found and found.tzinfo else None
    except (ValueError, OverflowError):
        return None


@require_POST
def remove(request: HttpRequest, slug: str) -> HttpResponse:
    """Take a program away that no job has run."""
    application = own_application(request, slug)
    try:
        own_programs.remove_program(caller(request), application)
    except GridPortalError as error:
        messages.error(request, page_text(error))
        return redirect(application)
    messages.success(request, f"{application.name} is removed.")
    return redirect("applications")


@require_POST
def test(request: HttpRequest, slug: str) -> HttpResponse:
    """Submit a short job of it: whether the nodes find the program, and how it begins."""
    return _test(request, own_application(request, slug))


def own_application(request: HttpRequest, slug: str) -> Application:
    """One of the caller's own; others are not there."""
    require_submitter(request)
    rows = Application.objects.select_related("program")
    return get_object_or_404(rows, slug=slug, owner=caller(request), program__isnull=False)


def _save(request: HttpRequest, form: ProgramForm, rows: Any, application: Application | None) -> Application | None:
    """None where something is wrong; all of it is said beside its field then."""
    is_valid = [form.is_valid(), rows.is_valid()]
    stored = Application.objects.get(pk=application.pk).parameters if application else ()
    parameters = [row.document(stored) for row in rows if row.is_valid()]
    asked = form.asked([each for each in parameters if each])
    try:
        if all(is_valid):
            return _kept(request, asked, application)
        errors = own_programs.problems_with(caller(request), asked, application)
    except SeveralInputsError as error:
        errors = list(error.errors)
    except ChangedMeanwhileError:
        raise
    except ConflictError as error:
        form.add_error(None, str(error))
        return None
    form.blame(errors)
    return None


def _kept(request: HttpRequest, asked: ProgramRequest, application: Application | None) -> Application:
    if application is None:
        return own_programs.save_program(caller(request), asked)
    events, rows, pk = changes_of(application, "application.change"), rows_of(application), application.pk
    with unless_changed(request, lambda: shown_values(Application.objects.get(pk=pk)), rows, events):
        return own_programs.save_program(caller(request), asked, application)


def _page(
    request: HttpRequest, form: ProgramForm, rows: Any, application: Application | None, status: int = 200
) -> HttpResponse:
    context = {
        "form": form,
        "rows": rows,
        "application": _stored(application),
        "program_clusters": clusters_for_programs(),
        "starts": starts(),
        "past_jobs": past_jobs(request, application),
        "sample": request.POST.get("sample", ""),
    }
    return render(request, "scheduling/own_program.html", context, status=status)


def _stored(application: Application | None) -> Application | None:
    """As it is kept, whatever was refused now."""
    return Application.objects.filter(pk=application.pk).select_related("program").first() if application else None


class ProgramClusters(NamedTuple):
    """The clusters that take programs of users; and the others, each with the sentence that says why."""

    open: list[str]
    closed: list[tuple[str, str]]


def clusters_for_programs() -> ProgramClusters:
    """As they are now."""
    by_name = program_clusters.hindrances()
    taken = [name for name, why in by_name.items() if why is None]
    return ProgramClusters(taken, [(name, why.why) for name, why in by_name.items() if why])


def _tell_unread(request: HttpRequest, application: Application) -> None:
    for sentence in unread_messages(application.program.text, caller(request)):
        messages.warning(request, sentence)


def _test(request: HttpRequest, application: Application) -> HttpResponse:
    try:
        job = program_test.submit_test(caller(request), application)
    except GridPortalError as error:
        messages.error(request, f"The test run was not submitted: {error}")
        return redirect(application)
    tasks.place_soon(job)
    add_result(request, f"Job {job.pk}", job.get_absolute_url(), "tests the program for two minutes at most.")
    return redirect(job)
