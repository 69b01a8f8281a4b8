"""Many jobs of the list at once: what would be done with which of them, and the doing."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from gridportal.accounts.caller import caller
from gridportal.web.result_messages import add_result
from scheduling import tasks
from scheduling.jobs.core import job_numbers
from scheduling.jobs.filters import JobFilterForm
from scheduling.jobs.models import Job
from scheduling.pages import selectors
from scheduling.pages.chosen_jobs import Deed, chosen_jobs
from scheduling.pages.job_list import JobList
from scheduling.pages.submitters import require_submitter
from scheduling.placing.services.many_jobs import Cancellations, cancel_jobs
from scheduling.placing.services.many_resubmissions import Resubmissions, resubmit_jobs

_MOST_REASONS = 5
_TOO_MANY = f"are more than {job_numbers.MOST}, which can be done at once. Narrow the filters, or choose fewer."


@require_POST
def many(request: HttpRequest) -> HttpResponse:
    """`do`: cancel, resubmit, compare or export; `job`: numbers, or `all` that the filters of the address show. The
    first two ask first, and act where the form says `confirm`."""
    back = f"{reverse('jobs')}?{request.GET.urlencode()}".rstrip("?")
    visible = selectors.jobs_visible_to(caller(request))
    if request.POST.get("do") == "export":
        return _export(request, back)
    if request.POST.get("do") == "compare":
        return _compare(request, back)
    deed = next((each for each in Deed if each == request.POST.get("do")), None)
    if deed is None:
        messages.error(request, "Choose what to do: cancel, resubmit, compare or export.")
        return redirect(back)
    if deed is Deed.RESUBMIT:
        require_submitter(request)
    numbers = _all_shown(request, visible) if request.POST.get("all") else _chosen(request)
    if not numbers or len(numbers) > job_numbers.MOST:
        messages.error(request, f"These {_TOO_MANY}" if numbers else "Choose at least one job in the list.")
        return redirect(back)
    jobs = list(visible.filter(pk__in=numbers).order_by("pk"))
    if request.POST.get("confirm"):
        _DEEDS[deed](request, jobs)
        return redirect(back)
    context = {
        "deed": deed.value,
        "chosen": chosen_jobs(caller(request), deed, jobs),
        "missing": len(numbers) - len(jobs),
        "request_key": uuid.uuid4(),
        "back": back,
    }
    return render(request, "scheduling/many_jobs.html", context)


def _chosen(request: HttpRequest) -> list[int]:
    """The numbers that were ticked; what is none is left out."""
    sent = [text for text in request.POST.getlist("job") if text.isascii() and text.isdigit() and len(text) < 18]
    return sorted({int(text) for text in sent})


def _all_shown(request: HttpRequest, visible: QuerySet[Job]) -> list[int]:
    """The numbers of all jobs that the filters of the address let through, one more than can be done at most."""
    form = JobFilterForm(request.GET, caller(request))
    found = JobList(form.apply(visible), request.GET.get("sort", ""), visible, at_once=form.reads_names)
    return found.keys(0, min(found.count(), job_numbers.MOST + 1))


def _compare(request: HttpRequest, back: str) -> HttpResponse:
    """The newest runs of the chosen jobs side by side; that page says how many there may be."""
    numbers = _chosen(request)
    if request.POST.get("all") or len(numbers) < 2:
        messages.error(request, "Choose two or more jobs in the list to compare them.")
        return redirect(back)
    return redirect(f"{reverse('jobs-compare')}?runs={','.join(map(str, numbers))}")


def _export(request: HttpRequest, back: str) -> HttpResponse:
    """The CSV of the chosen jobs, or of all that the filters show, which may be any number."""
    if request.POST.get("all"):
        return redirect(f"{reverse('jobs-csv')}?{request.GET.urlencode()}".rstrip("?"))
    numbers = _chosen(request)
    if not numbers or len(numbers) > job_numbers.MOST:
        messages.error(request, f"These {_TOO_MANY}" if numbers else "Choose at least one job in the list.")
        return redirect(back)
    return redirect(f"{reverse('jobs-csv')}?ids={job_numbers.written(numbers)}")


def _cancel(request: HttpRequest, jobs: Sequence[Job]) -> None:
    outcome = cancel_jobs(caller(request), jobs)
    for number in outcome.stopping:
        tasks.cancel_run.delay_on_commit(number)
    done = [*outcome.cancelled, *outcome.stopping]
    if done:
        _tell_done(request, done, cancel_summary(outcome))
    elif not outcome.refused:
        messages.warning(request, "Nothing was cancelled: none of the chosen jobs could be.")
    _tell_refused(request, outcome.refused)


def cancel_summary(outcome: Cancellations) -> str:
    """What became of how many, as the end of a sentence."""
    parts = [(outcome.cancelled, "cancelled"), (outcome.stopping, "being stopped")]
    done = ", ".join(f"{len(numbers)} {words}" for numbers, words in parts if numbers)
    left = [(outcome.over, "over already"), (outcome.forbidden, "not yours to cancel")]
    rest = ", ".join(f"{len(numbers)} {words}" for numbers, words in left if numbers)
    return f"{done}. Left alone: {rest}." if rest else f"{done}."


def _resubmit(request: HttpRequest, jobs: Sequence[Job]) -> None:
    able = chosen_jobs(caller(request), Deed.RESUBMIT, jobs).able
    outcome = resubmit_jobs(caller(request), able, _key(request))
    for job in _first_of_each_cluster(outcome):  # a worker that places one of them places all
        tasks.place_soon(job)
    if outcome.made:
        made = [job.pk for job in outcome.made.values()]
        left = len(jobs) - len(made)
        rest = f" {left} of the chosen could not be." if left else ""
        _tell_done(request, made, f"submitted again.{rest}")
    _tell_refused(request, outcome.refused)


def _first_of_each_cluster(outcome: Resubmissions) -> list[Job]:
    return list({job.cluster: job for job in outcome.made.values()}.values())


def _tell_done(request: HttpRequest, numbers: Sequence[int], outcome: str) -> None:
    """One message, whose link leads to exactly these jobs."""
    address = f"{reverse('jobs')}?ids={job_numbers.written(numbers)}"
    add_result(request, f"{len(numbers)} job{'' if len(numbers) == 1 else 's'}:", address, outcome)


def _tell_refused(request: HttpRequest, refused: Mapping[int, str]) -> None:
    """Why some could not be, the first few in words."""
    if not refused:
        return
    shown = [f"Job {number}: {why}" for number, why in list(refused.items())[:_MOST_REASONS]]
    more = len(refused) - len(shown)
    messages.error(request, " ".join([*shown, *([f"And {more} more."] if more else [])]))


def _key(request: HttpRequest) -> uuid.UUID:
    """That of the page that asked: sent twice it makes the jobs once."""
    try:
        return uuid.UUID(request.POST.get("request_key", ""))
    except ValueError:
        return uuid.uuid4()


_DEEDS: Mapping[Deed, Callable[[HttpRequest, Sequence[Job]], Any]] = {Deed.CANCEL: _cancel, Deed.RESUBMIT: _resubmit}
