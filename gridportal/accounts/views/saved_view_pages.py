"""One's own views of lists: save the one that is shown; rename, remove, begin with one."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from gridportal.accounts import saved_views
from gridportal.accounts.caller import caller
from gridportal.accounts.list_pages import LISTS
from gridportal.accounts.saved_view_models import SavedView
from gridportal.base.errors import GridPortalError, InputError
from gridportal.web.result_messages import add_result


@require_safe
def manage(request: HttpRequest) -> HttpResponse:
    """All of them, list by list."""
    rows = list(saved_views.saved_views(caller(request)))
    lists = [(page, [row for row in rows if row.list == page.key]) for page in LISTS.values()]
    return render(request, "accounts/saved_views.html", {"lists": [each for each in lists if each[1]]})


@require_POST
def save(request: HttpRequest, key: str) -> HttpResponse:
    """Keep what the list shows now; of the same name the newer one counts."""
    if key not in LISTS:
        raise Http404(f"No list is called {key[:40]}.")
    page, form = LISTS[key], request.POST
    query = page.kept(form.get("query", "")[:8000])
    try:
        view = saved_views.save_view(
            caller(request), key, form.get("name", ""), query, is_default=bool(form.get("is_default")), replaces=True
        )
    except GridPortalError as error:
        messages.error(request, _sentence(error))
        return redirect(f"{reverse(page.address)}?{query or 'view=all'}")
    add_result(request, f"The view {view.name}", view.get_absolute_url(), "is saved.")
    return redirect(view)


@require_POST
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Another name, or the view that its list begins with (`is_default` is yes or no)."""
    default = {"yes": True, "no": False}.get(request.POST.get("is_default", ""))
    return _do(
        request, pk, lambda view: saved_views.change_view(view, name=request.POST.get("name"), is_default=default)
    )


@require_POST
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Forget one."""
    view = _own(request, pk)
    name = view.name
    view.delete()
    page = LISTS.get(view.list)
    address = f"{reverse(page.address)}?view=all" if page else reverse("saved-views")
    add_result(request, f"The view {name}", address, "is removed.")
    return redirect("saved-views")


def _do(request: HttpRequest, pk: int, act: Callable[[SavedView], SavedView]) -> HttpResponse:
    view = _own(request, pk)
    try:
        changed = act(view)
    except GridPortalError as error:
        messages.error(request, _sentence(error))
    else:
        add_result(request, f"The view {changed.name}", changed.get_absolute_url(), "is changed.")
    return redirect("saved-views")


def _own(request: HttpRequest, pk: int) -> SavedView:
    return get_object_or_404(saved_views.saved_views(caller(request)), pk=pk)


def _sentence(error: GridPortalError) -> str:
    return f"Enter {error.accepted}." if isinstance(error, InputError) else str(error)
