"""Forms whose errors say in one sentence what is accepted, in place of Django's own words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self, cast

from django import forms
from django.core import validators
from django.core.exceptions import ValidationError

from gridportal.base.accepted_values import (
    ADDRESS,
    CLEAN,
    DAY,
    E_MAIL,
    NUMBER,
    SLUG,
    TEXT,
    UUID,
    WHOLE_NUMBER,
    of_kind,
    one_of,
    to_enter,
)
from gridportal.web.shown_version import SHOWN_VERSION, version_of

#: What an empty field says that takes a name.
NAME_NEEDED = "Enter a name."
_LISTED = 12  # choices that a sentence names


class WordedForm(forms.Form):
    """A form; what a field or a check of the portal itself says of a value stays as it is."""

    _errors: Any
    _shown: str | None = None
    #: What the page says where somebody else has changed the same thing since the form was shown.
    meanwhile: Sequence[str] = ()

    @property
    def shown_version(self) -> str:
        """Of which version it shows the values: the one of `show`, else the one that was sent."""
        return str(self.data.get(SHOWN_VERSION, "")) if self._shown is None else self._shown

    def show(self, values: Mapping[str, Any]) -> Self:
        """Note that the page shows these values of what is kept; the form itself."""
        self._shown = version_of(values)
        return self

    @property
    def wrong_fields(self) -> list[tuple[str, str]]:
        """Label of each field that needs another value, and the id of its control, for a list of links at the top."""
        bound = [self[name] for name in self.fields if name in (self.errors or {})]
        return [(str(field.label), field.id_for_label) for field in bound if not field.is_hidden]

    def full_clean(self) -> None:
        """As Django's, with sentences of ours where Django has its own."""
        super().full_clean()
        for name, errors in (self._errors or {}).items():
            field = self.fields.get(name)
            data = errors.as_data()
            if field is not None and any(_is_djangos(field, error) for error in data):
                own = [error for error in data if not _is_djangos(field, error)]
                end = CLEAN if data[0].code == "null_characters_not_allowed" else ""
                errors.data = [ValidationError(f"Enter {to_enter(accepted(field))}{end}.", code=data[0].code), *own]


def accepted(field: forms.Field) -> str:
    """What a field takes, as the end of a sentence.

    >>> accepted(forms.IntegerField(min_value=2, max_value=8)), accepted(forms.CharField(max_length=60))
    ('a whole number from 2 to 8', 'a text of at most 60 characters')
    >>> accepted(forms.CharField(min_length=3, max_length=500))
    'a text of 3 to 500 characters'
    >>> accepted(forms.ChoiceField(choices=[("", "any"), ("a", "A"), ("b", "B")]))
    'one of A, B'
    """
    if isinstance(field, forms.ModelChoiceField):
        rows = field.queryset
        return one_of(map(str, rows[:_LISTED]), _LISTED, rows.count()) if rows is not None else one_of(())
    if isinstance(field, forms.ChoiceField):
        choices = cast("Iterable[tuple[Any, Any]]", field.choices)  # Django's forms make pairs of all that is given
        return one_of((str(label) for value, label in choices if value not in (None, "")), _LISTED)
    return of_kind(field, _KINDS)


_KINDS: tuple[tuple[type[forms.Field], str], ...] = (
    (forms.FloatField, NUMBER),
    (forms.DecimalField, NUMBER),
    (forms.IntegerField, WHOLE_NUMBER),
    (forms.EmailField, E_MAIL),
    (forms.URLField, ADDRESS),
    (forms.SlugField, SLUG),
    (forms.DateField, DAY),
    (forms.DateTimeField, "a date and time, such as 2030-01-31 12:00"),
    (forms.UUIDField, UUID),
    (forms.BooleanField, "a tick"),
    (forms.FileField, "a file"),
    (forms.CharField, TEXT),
)


def _is_djangos(field: forms.Field, error: ValidationError) -> bool:
    """Whether an error has Django's own words: the very text of its fields and checks, not one that we gave."""
    texts = [text for kind in type(field).__mro__ for text in getattr(kind, "default_error_messages", {}).values()]
    return any(error.message is text for text in (*texts, *_CHECKS))


def _texts_of_checks() -> Iterator[object]:
    for check in vars(validators).values():
        yield getattr(check, "message", check)
        several = getattr(check, "messages", None)
        yield from several.values() if isinstance(several, dict) else ()


#: What Django's validators say.
_CHECKS = tuple(_texts_of_checks())
