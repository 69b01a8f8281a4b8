"""The submit form, its live preview, and the submission itself."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, replace
from typing import Any, cast

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from gridportal.accounts.caller import caller
from gridportal.base import rank_places
from gridportal.base.errors import BusyError, ConflictError, GridPortalError, ImpossibleError, InputError
from gridportal.base.reasons import Code, Reason
from gridportal.web.long_answers import long_answer
from gridportal.web.request_metrics import SUBMISSIONS_REFUSED
from gridportal.web.result_messages import add_result
from monitoring.clusters import selectors
from scheduling import tasks
from scheduling.contracts.selectors.run_ends import expected_ends
from scheduling.jobs.core import sweep
from scheduling.jobs.core.application_specification import ApplicationSpecification
from scheduling.jobs.core.candidates import CandidateGroup
from scheduling.jobs.core.input_files import InputFile, merged, read_all
from scheduling.jobs.models import Application, Job
from scheduling.jobs.selectors import usable_applications, usual_project
from scheduling.jobs.services import dependencies, job_inputs, job_spec
from scheduling.matching.selectors import saved_requests
from scheduling.matching.services.limited_match import LONGEST_MATCHES
from scheduling.matching.services.matches_at_once import match_of
from scheduling.messages import scaling_messages
from scheduling.pages import forms, rank_fields
from scheduling.pages.charts import scaling_curve
from scheduling.pages.input_note import inputs_note
from scheduling.pages.past_times import past_times
from scheduling.pages.requirement_matches import requirement_match
from scheduling.pages.submitters import require_submitter
from scheduling.pages.views.job import visible_job
from scheduling.pages.views.story import shown_groups
from scheduling.placing.services import preview as placing_preview
from scheduling.placing.services import submission, sweep_submission
from scheduling.placing.services.joint_counts import best_count
from scheduling.projects import budget_messages
from scheduling.projects.budget_selectors import budget_state, current_budget
from scheduling.runs.services.program_warnings import file_warnings


@dataclass(frozen=True, slots=True)
class Place:
    """A chosen node with its ranks; pinned: they all have to be there."""

    node: str
    ranks: list[int]
    pinned: bool

    @property
    def summary(self) -> str:
        """The ranks in words."""
        return rank_places.numbered(self.ranks)


FIRST = "nas-cg"
MOST_TABS = 6
MOST_SAVED = 20
#: The fields of jobs after which this one starts.
_ORDER = {"after", "after_ok"}
_MADE_BEFORE = "This form has made a job or a sweep already, of other values. Submit it again to make one of these."


@require_http_methods(["GET", "HEAD", "POST"])
def submit(request: HttpRequest) -> HttpResponse:
    """GET shows the form (fresh, or filled from an old job); POST submits it."""
    require_submitter(request)
    applications = list(usable_applications(caller(request)).filter(enabled=True))
    source = _source(request)
    application = _chosen(request, applications, source)
    if application is None:
        status = 404 if _given(request).get("application") or request.method == "POST" else 200
        return render(request, "scheduling/submit_none.html", {"applications": applications}, status=status)
    if request.method == "POST":
        return _send(request, application, applications, source)
    old = job_spec.JobSpec.from_row(source) if source and source.application_id == application.pk else None
    usual = {} if old and old.project else {"project": usual_project(caller(request))}
    initial = (
        forms.initial(application, caller(request), old)
        | usual
        | {"trace": request.GET.get("trace") == "1"}
        | _kept_request(request)
    )
    initial |= _chosen_on_the_map(request)
    kept = _kept_inputs(request, source)
    form = forms.SubmitForm(application, labels=_labels(), user=_name(request), kept=kept, initial=initial)
    return _page(request, form, applications, source)


@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """The candidate groups and the script that this form would give now; nothing is written."""
    require_submitter(request)
    application = _chosen(request, list(usable_applications(caller(request)).filter(enabled=True)), None)
    if application is None:
        return render(request, "scheduling/_preview.html", {"problems": [("Application", "it is not there any more")]})
    form = forms.SubmitForm(application, request.POST, user=_name(request))
    if not form.is_valid():
        return render(request, "scheduling/_preview.html", _problems(form))
    try:
        with long_answer(caller(request).pk):
            return _preview(request, form)
    except BusyError as error:
        busy = HttpResponse(str(error), status=429, content_type="text/plain; charset=utf-8")
        busy["Retry-After"] = str(error.retry_after)
        return busy


def _preview(request: HttpRequest, form: forms.SubmitForm) -> HttpResponse:
    try:
        spec, until = form.to_spec(), time.monotonic() + LONGEST_MATCHES
        with match_of(caller(request).pk, text=spec.classad):
            match = requirement_match(spec, caller(request), until)
            shown = placing_preview.preview(spec, caller(request), until, expected_ends)
    except BusyError:
        raise
    except ImpossibleError as error:
        form.blame(error)
        return render(request, "scheduling/_preview.html", _problems(form) | {"match": match})
    except GridPortalError as error:
        form.blame(error)
        return render(request, "scheduling/_preview.html", _problems(form))
    context = _shown(shown, form, spec) | {"match": match, "budget": _budget(spec, shown, form)}
    return render(request, "scheduling/_preview.html", context)


def _budget(spec: job_spec.JobSpec, shown: placing_preview.Preview, form: forms.SubmitForm) -> dict[str, Any] | None:
    """What is left of the budget of the chosen project, and how much of it this job may take; None without one."""
    budget = current_budget(spec.project) if spec.project else None
    if budget is None:
        return None
    state = budget_state(budget)
    nodes = len(set(shown.candidates[0].nodes)) if shown.candidates else spec.rank_request.least_nodes()
    jobs = sweep.size(form.axes) if form.axes else 1
    return {
        "project": budget.project,
        "level": state.level.value,
        "sentences": [
            budget_messages.finding(budget, state),
            budget_messages.may_take(state),
            budget_messages.job_may_take(state, nodes * jobs, spec.time_limit),
        ],
    }


def _kept_request(request: HttpRequest) -> dict[str, object]:
    """The text of a kept request that the address names; it says how many ranks there are."""
    number = request.GET.get("saved", "")
    if not (number.isascii() and number.isdigit() and len(number) < 18):
        return {}
    row = saved_requests(caller(request)).filter(pk=int(number)).first()
    return {"classad": row.text, "ranks": None} if row else {}


def _chosen_on_the_map(request: HttpRequest) -> dict[str, str]:
    """Pins and excluded nodes that the address has: the preview's buttons write them there, so that a reload keeps
    them; the cluster, from the page of one of its nodes; and the jobs that it is to start after."""
    given = {name: request.GET[name][:4000] for name in ("pins", "exclude") if request.GET.get(name)}
    cluster = request.GET.get("cluster", "")
    after = {name: request.GET[name][:400] for name in ("after", "after_ok") if request.GET.get(name)}
    return given | after | ({"cluster": cluster} if cluster in selectors.configured() else {})


def _send(
    request: HttpRequest, application: Application, applications: list[Application], source: Job | None
) -> HttpResponse:
    kept = _kept_inputs(request, source)
    form = forms.SubmitForm(
        application, request.POST, files=request.FILES, labels=_labels(), user=_name(request), kept=kept
    )
    if form.is_valid():
        try:
            if form.axes:
                return _submitted_sweep(request, form, source)
            job = submission.submit_job(caller(request), _with_inputs(request, form), resubmitted_from=source)
        except BusyError as error:
            SUBMISSIONS_REFUSED.inc()
            form.blame(error)
            page = _page(request, form, applications, source, status=429)
            page["Retry-After"] = str(error.retry_after)
            return page
        except ConflictError:
            form.add_error(None, _MADE_BEFORE)
            _give_new_key(form)
        except GridPortalError as error:
            form.blame(error)
        else:
            tasks.place_soon(job)
            add_result(request, f"Job {job.pk}", job.get_absolute_url(), "is submitted.")
            return redirect(job)
    _blame_order(request, form)
    return _page(request, form, applications, source, status=422)


def _blame_order(request: HttpRequest, form: forms.SubmitForm) -> None:
    """What is wrong with the jobs after which it starts, told with all else that is wrong."""
    if form.errors.keys() & _ORDER:
        return
    after, after_ok = (form.cleaned_data.get(name) or () for name in ("after", "after_ok"))
    try:
        dependencies.check_numbers(caller(request), after, after_ok)
    except InputError as error:
        form.blame(error)


def _give_new_key(form: forms.SubmitForm) -> None:
    data = cast(QueryDict, form.data).copy()
    data["request_key"] = str(uuid.uuid4())
    form.data = data


def _kept_inputs(request: HttpRequest, source: Job | None) -> tuple[InputFile, ...]:
    """The files of the old job that this person may bring along."""
    if source is None or not request.user.has_perm("scheduling.read_job_files", source):
        return ()
    return read_all(source.inputs) if job_inputs.are_kept(source) else ()


def _with_inputs(request: HttpRequest, form: forms.SubmitForm) -> job_spec.JobSpec:
    """What is asked for, with the files that were sent and those that come along. Raises InputError."""
    sent = job_inputs.receive(caller(request), form.cleaned_data["inputs"])
    return replace(form.to_spec(), inputs=merged(form.kept_inputs(), sent))


def _submitted_sweep(request: HttpRequest, form: forms.SubmitForm, source: Job | None) -> HttpResponse:
    """All jobs of the sweep are submitted. Raises GridPortalError where one of them cannot be."""
    group, _ = sweep_submission.submit_sweep(caller(request), _with_inputs(request, form), form.axes, source)
    jobs = list(group.jobs.all())
    for job in jobs[:1]:  # a worker that places one of them places all
        tasks.place_soon(job)
    add_result(request, f"Sweep {group.pk}", group.get_absolute_url(), f"is submitted: {len(jobs)} jobs.")
    return redirect(group)


def _page(
    request: HttpRequest, form: forms.SubmitForm, applications: list[Application], source: Job | None, status: int = 200
) -> HttpResponse:
    context = {
        "form": form,
        "application": form.application,
        "applications": applications,
        "many": len(applications) > MOST_TABS,
        "source": source,
        "saved": saved_requests(caller(request))[:MOST_SAVED],
        "specification_open": bool(
            any(form[name].value() for name in ("pins", "exclude"))
            or forms.SPECIFIED & form.errors.keys()
            or ((old := form.initial.get("specification")) and old.groups)
        ),
        "warnings": file_warnings(form.application),
        "inputs_note": inputs_note(caller(request)),
        "order_open": any(form[name].value() for name in ("after", "after_ok")),
        "sweep_open": any(field.value() for field in form.sweep_parts()),
        "requirements_open": form.initial.get("trace") or not forms.REQUIREMENTS.isdisjoint(form.errors),
    }
    return render(request, "scheduling/submit.html", context, status=status)


def _shown(shown: Any, form: forms.SubmitForm, spec: job_spec.JobSpec) -> dict[str, Any]:
    context: dict[str, Any] = {"preview": shown, "script": shown.script, "application": form.application}
    context["fits_skeleton"] = form.fits_skeleton
    context |= {"sweep_size": sweep.size(form.axes), "axes": form.axes} if form.axes else {}
    if form.misses_skeleton and not shown.trial:
        total = rank_fields.rank_request(form.cleaned_data).total
        context["preview"] = replace(shown, trial=Reason.of(Code.NO_SKELETON, ranks=total))
    if shown.candidates:
        cluster, talks = form.cleaned_data["cluster"], form.cleaned_data["method"] == "pattern"
        context |= shown_groups(shown.candidates, cluster, talks=talks, asked=spec)
        context |= _places(shown.candidates[0], form.cleaned_data["specification"])
        context |= {} if context.get("no_network") else _scaling(form, spec)
    return context


def _scaling(form: forms.SubmitForm, spec: job_spec.JobSpec) -> dict[str, Any]:
    """How long the program took on several numbers of ranks, and would on the nodes that are free now; nothing where
    groups say how many there are."""
    filled = form.cleaned_data
    if filled["specification"].groups:
        return {}
    given = {name.removeprefix("param-"): filled[name] for name in form.own}
    found = past_times(form.application, given, filled["cluster"])
    if not found.points:
        return {}
    joint = best_count(spec, found.table) if found.table else None
    here = {point.ranks: point for point in joint.points} if joint else {}
    return {
        "scaling_rows": [(point, runs, here.get(point.ranks)) for point, runs in found.rows],
        "scaling_choice": joint.chosen if joint else None,
        "scaling_by_table": bool(form.application.scaling),
        "scaling_predicts": any(not runs for _, runs in found.rows),
        "scaling_finding": scaling_messages.finding(found.points),
        "scaling_figure": scaling_curve.figure(found.points),
    }


def _places(chosen: CandidateGroup, asked: ApplicationSpecification) -> dict[str, Any]:
    """The nodes that were chosen, each with its ranks and whether they are pinned there; and the excluded ones."""
    pinned = asked.pinned()
    places = [
        Place(node, ranks, all(pinned.get(rank) == (node,) for rank in ranks))
        for node, ranks in rank_places.ranks_of(chosen.nodes).items()
    ]
    return {"places": places, "excluded": asked.exclude}


def _problems(form: forms.SubmitForm) -> dict[str, Any]:
    """What is wrong in words, and by field, so that the form can mark it."""
    errors_of = {name: [str(error) for error in errors] for name, errors in form.errors.items()}
    labels = {name: str(form.fields[name].label) if name in form.fields else "" for name in errors_of}
    return {
        "problems": [(labels[name], error) for name, errors in errors_of.items() for error in errors],
        "field_errors": {
            form[name].auto_id: " ".join(errors)
            for name, errors in errors_of.items()
            if name in form.fields and not (name == "classad" and form.is_repeated)
        },
    }


def _chosen(request: HttpRequest, applications: list[Application], source: Job | None) -> Application | None:
    slug = _given(request).get("application", "")
    if slug or request.method == "POST":
        return next((application for application in applications if application.slug == slug), None)
    return _usual(request, applications, source)


def _usual(request: HttpRequest, applications: list[Application], source: Job | None) -> Application | None:
    """The program of the old job, else the one that this person ran last, else the usual first one."""
    by_slug = {application.slug: application for application in applications}
    old = [source.application.slug] if source else []
    mine = Job.objects.filter(owner=request.user.pk, application__enabled=True).order_by("-pk")
    last = mine.values_list("application__slug", flat=True)[:1]
    usual = next((slug for slug in (*old, *last, FIRST) if slug in by_slug), None)
    return by_slug[usual] if usual else next(iter(applications), None)


def _source(request: HttpRequest) -> Job | None:
    number = _given(request).get("from", "")
    return visible_job(request, int(number)) if number.isascii() and number.isdigit() and len(number) < 18 else None


def _given(request: HttpRequest) -> QueryDict:
    return request.POST if request.method == "POST" else request.GET


def _name(request: HttpRequest) -> str:
    return request.user.get_username()


def _labels() -> str:
    names = selectors.configured()
    label_names = sorted(
        {f"{k}={v}" for name in names for labels in selectors.compute_labels(name) for k, v in labels.items()}
    )
    return f"Such as {label_names[0]}: all count. Known here: {', '.join(label_names[:8])}." if label_names else ""
