"""Views of lists that people keep for themselves: save, change, remove. Nobody else sees them."""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet

from gridportal.accounts.list_pages import LISTS, list_page
from gridportal.accounts.models import User
from gridportal.accounts.saved_view_models import SavedView
from gridportal.base.errors import ConflictError, InputError
from gridportal.base.held_row import hold

MOST = 50  # views of one person of one list
_LONGEST_NAME = 60


def saved_views(person: User, key: str = "") -> QuerySet[SavedView]:
    """A person's views by name, of one list or of all that there are."""
    rows = SavedView.objects.filter(owner=person, list__in=[key] if key else list(LISTS))
    return rows.order_by("list", "name")


@transaction.atomic
def save_view(
    person: User, key: str, name: str, query: str, *, is_default: bool = False, replaces: bool = False
) -> SavedView:
    """Keep a view. Raises InputError for what cannot be, ConflictError for a name that this person has for the list
    already, unless the new one `replaces` it."""
    page, name = list_page(key), _name(name)
    query = page.read(query)
    own = SavedView.objects.filter(owner=_locked(person), list=key)
    old = own.filter(name__iexact=name).first()
    if old and not replaces:
        raise ConflictError(f"You have a view called {old.name} of this list already.")
    if old is None and own.count() >= MOST:
        raise ConflictError(f"You have {MOST} views of this list; remove one first.")
    view = old or SavedView(owner=person, list=key)
    view.name, view.query = name, query
    view.save()
    return _make_default(view) if is_default else view


@transaction.atomic
def change_view(
    view: SavedView, *, name: str | None = None, query: str | None = None, is_default: bool | None = None
) -> SavedView:
    """Another name, other filters, or the default or no more. Raises as `save_view` does."""
    _locked(view.owner)
    hold(view, f"The view {view.name}")
    view.refresh_from_db()  # what is not changed here stays as somebody else has saved it a moment ago
    if name is not None:
        view.name = _name(name)
        taken = SavedView.objects.filter(owner=view.owner, list=view.list, name__iexact=view.name)
        if taken.exclude(pk=view.pk).exists():
            raise ConflictError(f"You have a view called {view.name} of this list already.")
    if query is not None:
        view.query = list_page(view.list).read(query)
    if is_default is False:
        view.is_default = False
    view.save()
    return _make_default(view) if is_default else view


def _make_default(view: SavedView) -> SavedView:
    SavedView.objects.filter(owner=view.owner, list=view.list, is_default=True).exclude(pk=view.pk).update(
        is_default=False
    )
    view.is_default = True
    view.save(update_fields=["is_default", "changed_at"])
    return view


def _name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise InputError("name", name, f"a name of 1 to {_LONGEST_NAME} characters")
    return name


def _locked(person: User) -> User:
    """One change of a person's views at a time."""
    return User.objects.select_for_update().get(pk=person.pk)
