"""With whom a job is shared: the list, sharing with a person, a group or by a link, and the link itself."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from gridportal.accounts.caller import caller
from gridportal.base.errors import InputError
from gridportal.web.required_permission import require_permission
from gridportal.web.result_messages import add_result
from scheduling.jobs.models import Job
from scheduling.jobs.services import sharing_jobs
from scheduling.jobs.services.share_partners import shareable_groups
from scheduling.jobs.share_models import JobShare
from scheduling.pages.form_messages import beside
from scheduling.pages.share_forms import LinkForm, PartnerForm
from scheduling.pages.views.job import visible_job


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def share(request: HttpRequest, pk: int) -> HttpResponse:
    """GET lists with whom it is shared; POST shares it, by a link where `link` is sent. A link's secret is in this
    answer and nowhere else."""
    job = visible_job(request, pk)
    require_permission(request, "scheduling.unshare_job", f"Only its owner shares job {pk}.", job)
    if request.method != "POST":
        return _page(request, job)
    require_permission(request, "scheduling.share_job", f"Only its owner shares job {pk}.", job)
    return _link(request, job) if "link" in request.POST else _partner(request, job)


@require_POST
def stop(request: HttpRequest, pk: int, share_pk: int) -> HttpResponse:
    """Share it no more with one of them."""
    job = visible_job(request, pk)
    require_permission(request, "scheduling.unshare_job", f"Only its owner and operators end this of job {pk}.", job)
    found = get_object_or_404(JobShare, pk=share_pk, job=job)
    whom = found.with_whom
    sharing_jobs.stop_sharing_job(caller(request), found)
    add_result(request, f"Job {pk}", job.get_absolute_url(), f"is not shared with {whom} any more.")
    return redirect("job-share", pk)


@require_safe
@never_cache
def open_shared(request: HttpRequest, secret: str) -> HttpResponse:
    """Lead to the job of a link; who opens it may read the job as long as the link lasts."""
    job = sharing_jobs.open_link(caller(request), secret)
    return render(request, "scheduling/shared_none.html", status=404) if job is None else redirect(job)


def _partner(request: HttpRequest, job: Job) -> HttpResponse:
    form = PartnerForm(request.POST)
    if form.is_valid():
        whom, files = form.cleaned_data["with"], form.cleaned_data["with_files"]
        try:
            sharing_jobs.share_job(caller(request), job, whom, with_files=files)
        except InputError as error:
            form.add_error("with", beside(error))
        else:
            add_result(request, f"Job {job.pk}", job.get_absolute_url(), f"is shared with {whom}.")
            return redirect("job-share", job.pk)
    return _page(request, job, partner_form=form, status=422)


def _link(request: HttpRequest, job: Job) -> HttpResponse:
    form = LinkForm(request.POST)
    if form.is_valid():
        try:
            made, secret = sharing_jobs.make_link(
                caller(request), job, days=form.cleaned_data["days"], with_files=form.cleaned_data["link_with_files"]
            )
        except InputError as error:
            form.add_error("days" if error.field == "days" else None, beside(error))
        else:
            address = request.build_absolute_uri(reverse("shared-job", args=[secret]))
            return _page(request, job, made=made, address=address)
    return _page(request, job, link_form=form, status=422)


def _page(request: HttpRequest, job: Job, status: int = 200, **given: Any) -> HttpResponse:
    may_share = request.user.has_perm("scheduling.share_job", job)
    context = {
        "job": job,
        "shares": job.shares.select_related("person", "group", "made_by").prefetch_related("visits__person"),
        "may_share": may_share,
        "groups": shareable_groups(caller(request)) if may_share else [],
        "partner_form": PartnerForm(),
        "link_form": LinkForm(),
    } | given
    return render(request, "scheduling/shares.html", context, status=status)
