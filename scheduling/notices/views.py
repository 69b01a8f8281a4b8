"""The page of notices, the bell, and what a person chooses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from gridportal.accounts.caller import caller
from gridportal.accounts.changed_meanwhile import ChangedMeanwhileError, changes_of, unless_changed
from gridportal.accounts.list_context import list_context, usual_view
from gridportal.accounts.models import User
from gridportal.base.errors import GridPortalError, InputError, SeveralInputsError
from gridportal.web.form_errors import add_input_error, page_text
from gridportal.web.paging import LongList, page_of
from gridportal.web.result_messages import add_result
from scheduling.jobs.models import Job
from scheduling.notices import notice_messages, selectors
from scheduling.notices.core.notice_kinds import Channel
from scheduling.notices.forms import NoticesForm
from scheduling.notices.models import Notice, NoticeSettings
from scheduling.notices.services import choices, delivering

PER_PAGE = 50


@require_safe
@never_cache
def notices(request: HttpRequest) -> HttpResponse:
    """What the caller was told, the newest first."""
    if usual := usual_view(request, "notices"):
        return usual
    person, kind = caller(request), request.GET.get("kind", "")
    kind = kind if kind in notice_messages.KINDS else ""
    rows = selectors.on_page(person, kind)
    only_unread = request.GET.get("show") == "unread"
    shown = rows.select_related("job", "decision", "event", "alert__rule", "application").prefetch_related("deliveries")
    listed = rows.filter(read_at=None) if only_unread else rows
    page = page_of(LongList(listed, shown), PER_PAGE, request.GET.get("page"))
    context = {
        "page": page,
        "total": page.paginator.count,
        "rows": [_row(each) for each in page.object_list],
        "show": "unread" if only_unread else "",
        "unread": selectors.unread(person),
        "kind": kind,
        "kinds": notice_messages.KINDS.items(),
        **list_context(request, "notices"),
    }
    return render(request, "scheduling/notices/list.html", context)


@require_safe
@login_not_required
def bell(request: HttpRequest) -> JsonResponse:
    """How many the caller has not read; null where nobody is signed in any more."""
    person = request.user
    answer = JsonResponse({"unread": selectors.unread(person) if isinstance(person, User) else None})
    answer["Cache-Control"] = "no-store"
    return answer


@require_POST
def read(request: HttpRequest) -> HttpResponse:
    """Mark one notice as read, or all."""
    sent = request.POST.get("notice", "")
    ids = [int(sent)] if sent.isdecimal() and len(sent) < 18 else None
    count = choices.mark_read(caller(request), ids)
    if ids is None:
        outcome = f"{count:,} notice{'' if count == 1 else 's'} marked as read." if count else "No notice was unread."
        messages.success(request, outcome)
    return redirect(_back(request, "notices"))


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def notice_settings(request: HttpRequest) -> HttpResponse:
    """What the caller is told, by which ways."""
    person = caller(request)
    if request.method != "POST":
        return _settings_page(request, NoticesForm.of(selectors.settings_of(person)).show(_shown(person)))
    form = NoticesForm(request.POST)
    if not form.is_valid():
        _add(form, choices.wrong_settings(person, form.cleaned_data))
        return _settings_page(request, form, status=422)
    try:
        rows, events = NoticeSettings.objects.filter(person=person), changes_of(person, "person.change_notices")
        with unless_changed(request, partial(_shown, person), rows, events):
            choices.change_settings(person, form.cleaned_data)
    except ChangedMeanwhileError as error:
        error.show_on(form)
        return _settings_page(request, form, status=409)
    except SeveralInputsError as error:
        _add(form, error.errors)
        return _settings_page(request, form, status=422)
    add_result(request, "Your notices", reverse("notices"), "come from now on as it is chosen here.")
    return redirect("notice-settings")


def _shown(person: User) -> Mapping[str, object]:
    """What the form shows of the choices as they are kept."""
    return NoticesForm.first_values(selectors.settings_of(person))


def _add(form: NoticesForm, errors: Iterable[InputError]) -> None:
    for error in errors:
        add_input_error(form, error)


@require_POST
def test(request: HttpRequest) -> HttpResponse:
    """Send a test by every way that is set up."""
    try:
        choices.send_test(caller(request))
    except GridPortalError as error:
        messages.error(request, page_text(error))
    else:
        messages.success(request, "A test is on its way. This page says by which ways it has arrived.")
    return redirect("notices")


@require_POST
def job_notices(request: HttpRequest, pk: int) -> HttpResponse:
    """What the caller wants to hear of one job."""
    job = get_object_or_404(Job.objects.select_related("owner"), pk=pk)
    if not request.user.has_perm("scheduling.view_job", job):
        raise Http404
    try:
        choice = choices.choose_for_job(caller(request), job, request.POST.get("choice", ""))
    except InputError as error:
        messages.error(request, page_text(error))
    else:
        outcome = f"{notice_messages.JOB_CHOICES[choice].lower()}."
        add_result(request, f"Notices of job {pk}:", f"{job.get_absolute_url()}#notices", outcome)
    return redirect(job)


def job_context(person: User, job: Job) -> dict[str, Any]:
    """What the page of a job shows of this person's choice."""
    chosen = selectors.choice_of(person, job)
    return {
        "notice_choices": [(each.value, words, each is chosen) for each, words in notice_messages.JOB_CHOICES.items()]
    }


def _settings_page(request: HttpRequest, form: NoticesForm, status: int = 200) -> HttpResponse:
    reaches = delivering.is_set_up(selectors.settings_of(caller(request)))
    context = {
        "form": form,
        "channels": list(notice_messages.CHANNELS.values()),
        "missing": [notice_messages.MISSING[channel] for channel, reached in reaches.items() if not reached],
    }
    return render(request, "scheduling/notices/settings.html", context, status=status)


def _row(notice: Notice) -> dict[str, Any]:
    return {
        "notice": notice,
        "title": notice_messages.title(notice),
        "text": notice_messages.text(notice),
        "address": notice_messages.address(notice),
        "decided": notice.decision.state if notice.decision and notice.decision.state != "proposed" else "",
        "deliveries": [
            (notice_messages.CHANNELS[Channel(each.channel)], each.state, notice_messages.delivery(each))
            for each in notice.deliveries.all()
        ],
    }


def _back(request: HttpRequest, otherwise: str) -> str:
    """Where the form stood, when that is a page of this portal."""
    sent = request.POST.get("back", "")
    is_ours = sent.startswith("/") and url_has_allowed_host_and_scheme(sent, allowed_hosts=None)
    return sent if is_ours else otherwise
