"""Two people save the same thing: the second one is told who has changed what, and decides then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from django.db import transaction
from django.db.models import Model, QuerySet
from django.forms import ChoiceField, ModelChoiceField
from django.http import HttpRequest

from gridportal.accounts.models import AuditEvent
from gridportal.base.errors import ConflictError
from gridportal.base.name_lists import all_listed
from gridportal.web.shown_version import SHOWN_VERSION, changed_names
from gridportal.web.worded_form import WordedForm

#: So many letters of a value a sentence shows.
_LONGEST = 200


class ChangedMeanwhileError(ConflictError):
    """Somebody has changed what a form shows since it was shown. `names`: of the values that differ, `now`: all values
    as they are."""

    def __init__(self, who: str, at: str, names: Sequence[str], now: Mapping[str, Any]) -> None:
        self.who, self.at, self.names, self.now = who, at, tuple(names), dict(now)
        super().__init__(self.sentence(tuple(map(_plain, names))))

    def sentence(self, labels: Sequence[str]) -> str:
        """Who changed what, and how to go on."""
        return (
            f"{self.who} changed {all_listed(_quoted(labels))}{self.at} after you opened this form. Nothing of yours "
            "is saved yet. Save again to put your values in place of these, or open the page anew to keep them."
        )

    def sentence_for_programs(self, fields: Mapping[str, str]) -> str:
        """The same to whoever has no form. fields: what the API calls the values."""
        changed = all_listed([fields.get(name, name) for name in self.names])
        return (
            f"{self.who} changed {changed}{self.at} after you read it. Nothing of "
            "yours is saved. Send it again with the shown_version of this answer to put yours in place of this."
        )

    def show_on(self, form: WordedForm) -> None:
        """Say it on the form, which keeps what the person has entered; saved once more, it counts."""
        labels = [_label(form, name) for name in self.names]
        form.meanwhile = (
            self.sentence(labels),
            *(
                f"{label} is now: {_shown(form, name, self.now[name])}"
                for label, name in zip(labels, self.names, strict=True)
            ),
        )
        form.show(self.now)


@contextmanager
def unless_changed(
    request: HttpRequest, now: Callable[[], Mapping[str, Any]], rows: QuerySet[Any], events: QuerySet[AuditEvent]
) -> Iterator[None]:
    """Save within, in one transaction with the look at `rows`, which nobody else changes until it is over.

    `now` reads the values that the form was filled with; `events` are changes of them in the audit trail. Raises
    ChangedMeanwhileError where they differ from what the form showed. A form that does not say what it showed is saved.
    """
    with transaction.atomic():
        if request.POST.get(SHOWN_VERSION):
            list(rows.order_by().select_for_update().values_list("pk", flat=True))
            compare_shown(request, now(), events)
        yield


def compare_shown(request: HttpRequest, values: Mapping[str, Any], events: QuerySet[AuditEvent]) -> None:
    """Raises ChangedMeanwhileError where values are not what the form showed; `events` as above."""
    if names := changed_names(request.POST.get(SHOWN_VERSION, ""), values):
        raise ChangedMeanwhileError(*_who_and_when(request, events), names, values)


def changes_of(row: Model, *actions: str) -> QuerySet[AuditEvent]:
    """What the audit trail has of a row, of these actions (noun.verb)."""
    return AuditEvent.objects.filter(object_type=row._meta.model_name, object_id=str(row.pk), action__in=actions)


def rows_of(row: Model) -> QuerySet[Any]:
    """A row as rows to hold."""
    return type(row)._default_manager.filter(pk=row.pk)


def _who_and_when(request: HttpRequest, events: QuerySet[AuditEvent]) -> tuple[str, str]:
    """Parts of a sentence: `ann`, ` at 10:15 UTC,`."""
    newest = events.order_by("-at", "-pk").first()
    if newest is None:
        return "Somebody", ""
    name = "You" if newest.actor_id == request.user.pk else newest.actor_name
    return name, f" at {newest.at:%H:%M} UTC,"


def _quoted(labels: Sequence[str]) -> list[str]:
    return [f"“{label}”" for label in labels]


def _label(form: WordedForm, name: str) -> str:
    return str(form[name].label) if name in form.fields else _plain(name)


def _plain(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _shown(form: WordedForm, name: str, value: Any) -> str:
    """A value as the form words it."""
    field = form.fields.get(name)
    if isinstance(field, ChoiceField) and not isinstance(field, ModelChoiceField):
        choices = cast("Iterable[tuple[Any, Any]]", field.choices)  # Django's forms make pairs of all that is given
        labels = {str(key): str(label) for key, label in choices}
        parts = value if isinstance(value, list | tuple) else [value]
        text = ", ".join(labels.get(str(part), str(part)) for part in parts)
    elif isinstance(value, bool):
        text = "yes" if value else "no"
    else:
        text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str("" if value is None else value)
    return (text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…") or "empty"
