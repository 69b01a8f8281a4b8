"""Resource requests: those that wait, were answered or are over, each with its story; saved ones; ads of nodes."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from gridportal.accounts.caller import caller
from gridportal.accounts.changed_meanwhile import ChangedMeanwhileError
from gridportal.accounts.list_context import list_context, usual_view
from gridportal.base.errors import BusyError, GridPortalError, InputError
from gridportal.web.form_errors import add_input_error, page_text
from gridportal.web.paging import LongList, page_of
from gridportal.web.result_messages import add_result
from gridportal.web.shown_version import SHOWN_VERSION
from scheduling.matching import selectors as ads
from scheduling.matching.core.language.ad_reader import read_ad
from scheduling.matching.core.request_elements import elements
from scheduling.matching.models import SavedRequest
from scheduling.matching.services import saving_requests
from scheduling.resource_requests import selectors
from scheduling.resource_requests.forms import FIRST, ResourceAdForm, SendForm
from scheduling.resource_requests.match_story import STATE_MEANING, finding, story_of
from scheduling.resource_requests.models import MatchRequest
from scheduling.resource_requests.services import edited_texts, sending_requests
from scheduling.resource_requests.services.edited_texts import EVERY_NODE
from scheduling.resource_requests.services.trial_matches import try_match

PER_PAGE = 50
SHOWS = (("", "Waiting"), ("answered", "Answered"), ("over", "Over"), ("saved", "Saved"), ("ads", "Ads of nodes"))


@require_safe
def match_requests(request: HttpRequest) -> HttpResponse:
    """One tab of the page; htmx gets only the part that lives."""
    if usual := usual_view(request, "match-requests"):
        return usual
    show = request.GET.get("show", "")
    show = show if show in dict(SHOWS) else ""
    live = bool(getattr(request, "htmx", False))
    context = {"show": show, "tabs": SHOWS, "fragment": live, **_tab(request, show)}
    context |= list_context(request, "match-requests")
    response = render(request, f"scheduling/requests/{'_list_live' if live else 'list'}.html", context)
    if live:
        patch_cache_control(response, no_store=True)
    return response


@require_safe
def match_request(request: HttpRequest, pk: int) -> HttpResponse:
    """One request: what was asked, what was found and why, what happened."""
    row = _visible(request, pk)
    live = bool(getattr(request, "htmx", False))
    context = _request_context(request, row) | {"fragment": live}
    response = render(request, f"scheduling/requests/{'_request_live' if live else 'request'}.html", context)
    if live:
        patch_cache_control(response, no_store=True)
    return response


@require_http_methods(["GET", "HEAD", "POST"])
def new_request(request: HttpRequest) -> HttpResponse:
    """GET shows the form, empty or with a request that was kept or sent before; POST sends it or keeps it."""
    _must_send(request)
    if request.method != "POST":
        return _form(request, SendForm(initial=_first(request)).show(_kept_texts(request)))
    form = SendForm(request.POST)
    if not form.is_valid():
        return _form(request, form, 422)
    try:
        if "keep" in request.POST:
            given = form.cleaned_data
            fields = {name: given[name] for name in ("name", "text", "shared")}
            edited_texts.keep_request(caller(request), request.POST.get(SHOWN_VERSION, ""), **fields)
            address = f"{reverse('match-requests')}?show=saved"
            add_result(request, f"The request {given['name']}", address, "is kept.")
            return redirect(address)
        row = sending_requests.send_request(caller(request), form.to_request())
    except ChangedMeanwhileError as error:
        error.show_on(form)
        form.show(_kept_texts(request))
        return _form(request, form, 409)
    except BusyError as error:
        form.add_error("text", str(error))
        page = _form(request, form, 429)
        page["Retry-After"] = str(error.retry_after)
        return page
    except GridPortalError as error:
        if isinstance(error, InputError) and error.field == "name":
            add_input_error(form, error)
        else:
            form.add_error("text", str(error))
        return _form(request, form, 422)
    add_result(request, f"Request {row.pk}", row.get_absolute_url(), f"is {row.state}.")
    return redirect(row)


@require_POST
def check_request(request: HttpRequest) -> HttpResponse:
    """What a text would find now, as a part of a page; nothing is kept."""
    _must_send(request)
    is_brief = "classad" in request.POST
    field, name = ("classad", "classad") if is_brief else ("text", "request")
    text = request.POST.get(field, "").strip()  # as the form takes it: its places are those of other sentences
    context: dict[str, Any] = {"text": text}
    if text:
        try:
            forecast = bool(request.POST.get("forecast")) or request.POST.get("network") == "forecast"
            tried = try_match(caller(request), text, request.POST.get("cluster", ""), forecast=forecast, field=name)
            context |= {"tried": tried, "story": story_of(tried.answer) if tried.answer else None}
        except BusyError as error:
            context |= {"busy": error}
        except GridPortalError as error:
            context["refused"] = str(error)
    response = render(request, f"scheduling/requests/{'_check_brief' if is_brief else '_check'}.html", context)
    patch_cache_control(response, no_store=True)
    return response


@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """End the wait of a request."""
    row = _visible(request, pk)
    if not request.user.has_perm("scheduling.cancel_match_request", row):
        raise PermissionDenied("Only the owner of a request and operators may cancel it.")
    try:
        sending_requests.cancel_request(caller(request), row)
        add_result(request, f"Request {pk}", row.get_absolute_url(), "is cancelled.")
    except GridPortalError as error:
        messages.error(request, page_text(error))
    return redirect(row)


@require_POST
def remove_saved(request: HttpRequest, pk: int) -> HttpResponse:
    """Forget a request that was kept."""
    _must_send(request)
    row = get_object_or_404(ads.saved_requests(caller(request)), pk=pk)
    saving_requests.remove_request(caller(request), row)
    messages.success(request, f"The request {row.name} is not kept any more.")
    return redirect(f"{reverse('match-requests')}?show=saved")


@require_POST
def change_ad(request: HttpRequest, cluster: str) -> HttpResponse:
    """Set or take away what administrators add to the ad of a node."""
    if not request.user.has_perm("scheduling.change_resource_ad"):
        raise PermissionDenied("Only administrators give nodes ads of their own.")
    form, status = ResourceAdForm(request.POST), 422
    if form.is_valid():
        try:
            shown = request.POST.get(SHOWN_VERSION, "")
            row = edited_texts.change_ad(caller(request), shown, cluster, **form.cleaned_data)
            done = "is what administrators say of it" if row else "is taken away"
            address = f"{reverse('match-requests')}?show=ads"
            name = f"The ad of {form.cleaned_data['node'] or 'every node'} of {cluster}"
            add_result(request, name, address, f"{done}.")
            return redirect(address)
        except ChangedMeanwhileError as error:
            error.show_on(form)
            form.show(_shown_ads(cluster))
            status = 409
        except GridPortalError as error:
            form.add_error("node" if getattr(error, "field", "") == "node" else "text", str(error))
    context = {"show": "ads", "tabs": SHOWS, **_tab(request, "ads")}
    context["clusters_ads"] = [
        (name, rows, form if name == cluster else own) for name, rows, own in context["clusters_ads"]
    ]
    return render(request, "scheduling/requests/list.html", context, status=status)


def _kept_texts(request: HttpRequest) -> dict[str, str]:
    """By name, the own requests that are kept; never empty, so that a page with none says so, too."""
    rows = SavedRequest.objects.filter(owner=caller(request)).order_by("name")
    return {"": ""} | dict(rows.values_list("name", "text"))


def _shown_ads(cluster: str) -> dict[str, str]:
    """By node, what the table shows; never empty, so that a page without ads says so, too."""
    return {EVERY_NODE: ""} | {row.node or EVERY_NODE: row.text for row in ads.resource_ads(cluster)}


def _tab(request: HttpRequest, show: str) -> dict[str, Any]:
    user = caller(request)
    if show == "saved":
        return {"saved": ads.saved_requests(user)}
    if show == "ads":
        forms = [
            (name, list(ads.resource_ads(name)), ResourceAdForm().show(_shown_ads(name))) for name in settings.CLUSTERS
        ]
        return {"clusters_ads": forms, "may_change": request.user.has_perm("scheduling.change_resource_ad")}
    page = page_of(LongList(selectors.in_tab(user, show or "waiting")), PER_PAGE, request.GET.get("page"))
    rows = [(row, finding(answer) if (answer := row.match_answer) else "") for row in page.object_list]
    return {"page": page, "total": page.paginator.count, "rows": rows}


def _request_context(request: HttpRequest, row: MatchRequest) -> dict[str, Any]:
    answer = row.match_answer
    return {
        "row": row,
        "elements": elements(read_ad(row.text).ad, row.owner.username, row.lifetime, row.text),
        "meaning": STATE_MEANING[row.state],
        "story": story_of(answer) if answer else None,
        "events": row.events.all(),
        "over": row.is_final,
        "may_cancel": not row.is_final and request.user.has_perm("scheduling.cancel_match_request", row),
    }


def _form(request: HttpRequest, form: SendForm, status: int = 200) -> HttpResponse:
    saved = ads.saved_requests(caller(request))
    return render(request, "scheduling/requests/new.html", {"form": form, "saved": saved}, status=status)


def _first(request: HttpRequest) -> dict[str, object]:
    """The fields of a request that was kept or sent before, where the address names one. One of one's own has its name
    and whether it is shared, too: kept again, it is the same request."""
    kept, sent = request.GET.get("saved", ""), request.GET.get("from", "")
    if kept.isdecimal() and len(kept) < 18:
        row = get_object_or_404(ads.saved_requests(caller(request)), pk=int(kept))
        own = {"name": row.name, "shared": row.shared} if row.owner_id == caller(request).pk else {}
        return {"text": row.text, **own}
    if sent.isdecimal() and len(sent) < 18:
        return {"text": _visible(request, int(sent)).text}
    return {"text": FIRST}


def _visible(request: HttpRequest, pk: int) -> MatchRequest:
    row = get_object_or_404(MatchRequest.objects.select_related("owner"), pk=pk)
    if not request.user.has_perm("scheduling.view_match_request", row):
        raise Http404
    return row


def _must_send(request: HttpRequest) -> None:
    if not request.user.has_perm("scheduling.send_match_request"):
        raise PermissionDenied("Your role reads but sends no requests; ask an administrator for the role user.")
