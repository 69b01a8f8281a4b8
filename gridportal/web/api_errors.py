"""What is wrong with a request, field by field, in the portal's own kind of sentence: field, value, accepted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, cast

from django import forms
from django.db.models import QuerySet
from django.http import QueryDict
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

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
)
from gridportal.base.dates import MomentField
from gridportal.base.errors import Described, InputError
from gridportal.web.worded_form import accepted as accepted_by_form

_UNCLEAN = ("null_characters_not_allowed", "surrogate_characters_not_allowed")
#: What DRF itself finds wrong with a value; anything else was said by our own checks, in words already.
_CODES = frozenset(
    {
        "required",
        "null",
        "blank",
        "empty",
        "invalid",
        "invalid_choice",
        "does_not_exist",
        "not_a_list",
        "not_a_dict",
        "min_value",
        "max_value",
        "min_length",
        "max_length",
        "max_string_length",
        "overflow",
        "date",
        "incorrect_type",
        "no_text",
        *_UNCLEAN,
    }
)
#: What follows after what a field takes, by the code of the error.
_ENDS = {"no_text": ", in quotes", **dict.fromkeys(_UNCLEAN, CLEAN)}
_LISTED = 20


class WordedSerializer(serializers.Serializer[Any]):
    """A serializer that answers what it refuses in our sentences."""

    _errors: Any
    #: What could be sent, as JSON: sentences show it to whoever sent something of another shape.
    example: ClassVar[str] = ""
    #: Members that belong into an object in this one, by their names.
    belongs_in: ClassVar[Mapping[str, str]] = {}

    def to_internal_value(self, data: Any) -> Any:
        """As DRF's, but a member of a JSON document that nobody reads is refused: it was meant to do something. True
        is no number; a text such as "4" is one."""
        if isinstance(data, Mapping) and not isinstance(data, QueryDict):
            accepts = [name for name, field in self.fields.items() if not field.read_only]
            unknown = [str(name) for name in data if name not in self.fields]
            if unknown:
                message = f"{', '.join(unknown)[:200]} is not known here; accepted are {', '.join(accepts)}."
                if unknown[0] in self.belongs_in:
                    message += f" {unknown[0]} belongs in {self.belongs_in[unknown[0]]}."
                message += f" An example: {self.example}" if self.example else ""
                raise ValidationError({unknown[0][:80]: [ErrorDetail(message, code="unknown")]})
            wrong = [name for name, field in self.fields.items() if _is_no_number(field, data.get(name))]
            if wrong:
                raise ValidationError({name: [ErrorDetail("", code="invalid")] for name in wrong})
        return super().to_internal_value(data)

    def is_valid(self, *, raise_exception: bool = False) -> bool:
        """As DRF's; `errors` has one sentence where DRF has its own words."""
        super().is_valid(raise_exception=False)
        if self._errors:
            self._errors = _reworded(self._errors, self, self.initial_data, "")
        if self._errors and raise_exception:
            raise ValidationError(self.errors)
        return not self._errors


def _is_no_number(field: serializers.Field[Any, Any, Any, Any], value: Any) -> bool:
    """Whether a number is wanted and true or false was sent, which Python takes for 1 and 0."""
    if isinstance(field, serializers.ListField) and isinstance(value, list):
        return any(_is_no_number(field.child, each) for each in value)
    return isinstance(value, bool) and isinstance(field, serializers.IntegerField | serializers.FloatField)


def valid_data(serializer: serializers.Serializer[Any]) -> dict[str, Any]:
    """What was sent, once it is checked. Raises ValidationError, which names each wrong field."""
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


class TextField(serializers.CharField):
    """A text, of which a number is none: whoever sends one may have meant something else."""

    default_error_messages = {"no_text": "This is no text."}

    def to_internal_value(self, data: Any) -> str:
        """As DRF's, which makes a text of a number."""
        if isinstance(data, int | float):
            self.fail("no_text")
        return str(super().to_internal_value(data))


class SlugField(serializers.SlugRelatedField[Any]):
    """A row by its name. Of a name that no database takes there is no row."""

    def named(self) -> QuerySet[Any] | None:
        """The rows whose names a sentence tells."""
        return self.get_queryset()

    def to_internal_value(self, data: Any) -> Any:
        """The row. Fails as for any other name that is not there."""
        if isinstance(data, str) and "\0" in data:
            self.fail("does_not_exist", slug_name=self.slug_field, value=data)
        return super().to_internal_value(data)


def form_errors(form: forms.Form) -> dict[str, list[str]]:
    """The errors of a page's form for a caller of the API, who sees neither its labels nor its choices."""
    messages = {}
    for name, errors in form.errors.items():
        field = form.fields.get(name)
        if field is None or isinstance(field, MomentField):
            messages[name] = [f"{name}: {error}" for error in errors]
        else:
            end = CLEAN if errors.as_data()[0].code in _UNCLEAN else ""
            messages[name] = [str(InputError(name, form.data.get(name), f"{_form_accepted(field)}{end}"))]
    return messages


def accepted(field: serializers.Field[Any, Any, Any, Any]) -> str:
    """What a field takes, as the end of an InputError.

    >>> accepted(serializers.IntegerField(min_value=1)), accepted(serializers.BooleanField())
    ('a whole number from 1', 'true or false')
    """
    example = getattr(field, "example", "")
    return f"{_kind(field)}, such as {example}" if example else _kind(field)


def _kind(field: serializers.Field[Any, Any, Any, Any]) -> str:
    if isinstance(field, serializers.ChoiceField):
        return one_of(map(str, field.choices))
    if isinstance(field, serializers.SlugRelatedField):
        rows = field.named() if isinstance(field, SlugField) else field.get_queryset()
        if rows is None:
            return one_of(())
        values = rows.values_list(field.slug_field, flat=True)[:_LISTED]
        return one_of(map(str, values), _LISTED, rows.count())
    if isinstance(field, serializers.ListSerializer):
        most = getattr(field, "max_length", None)
        return f"a list of 1 to {most:,} objects" if most else "a list of objects"
    if isinstance(field, serializers.ListField):
        return f"a list, each entry {accepted(field.child)}" if _says(field.child) else "a list"
    if isinstance(field, serializers.DictField):
        return f"an object, each value {accepted(field.child)}" if _says(field.child) else "an object"
    return of_kind(field, _KINDS)


_KINDS: tuple[tuple[type, str], ...] = (
    (serializers.IntegerField, WHOLE_NUMBER),
    (serializers.FloatField, NUMBER),
    (serializers.BooleanField, "true or false"),
    (serializers.UUIDField, UUID),
    (serializers.DateField, DAY),
    (serializers.DateTimeField, "a date and time, such as 2030-01-31T12:00Z"),
    (serializers.EmailField, E_MAIL),
    (serializers.URLField, ADDRESS),
    (serializers.SlugField, SLUG),
    (serializers.CharField, TEXT),
    (serializers.BaseSerializer, "an object"),
)


def _says(field: serializers.Field[Any, Any, Any, Any]) -> bool:
    return any(isinstance(field, kind) for kind, _ in _KINDS)


def _form_accepted(field: forms.Field) -> str:
    """A caller of the API sends values, and sees no labels."""
    if isinstance(field, forms.ChoiceField):
        choices = cast("Iterable[tuple[Any, Any]]", field.choices)  # Django's forms make pairs of all that is given
        return one_of(str(value) for value, _ in choices if value)
    return getattr(field, "accepted", "") or accepted_by_form(field)


def _reworded(errors: Any, field: Any, value: Any, path: str) -> Any:
    """The same tree of errors with our sentences as its leaves; `value` is what was sent there."""
    if isinstance(field, serializers.ListSerializer) and isinstance(errors, Mapping) and "non_field_errors" in errors:
        errors = errors["non_field_errors"]
    if isinstance(errors, Mapping):
        return {name: _reworded(error, *_inside(field, value, path, name)) for name, error in errors.items()}
    if not isinstance(errors, list) or not {getattr(error, "code", "") for error in errors} <= _CODES:
        return errors
    if isinstance(field, serializers.ListSerializer):
        return [str(InputError(path or "The body", value, accepted(field)))]
    if field is None:
        return errors if isinstance(value, Mapping) else [str(InputError(path or "The body", value, "an object"))]
    is_missing = errors[0].code in ("required", "null", "blank", "empty")
    end = _ENDS.get(errors[0].code, "")
    if isinstance(value, Mapping) and not value:
        value = Described("an empty object")
    return [str(InputError(path or "The body", None if is_missing else value, f"{accepted(field)}{end}"))]


def _inside(field: Any, value: Any, path: str, name: Any) -> tuple[Any, Any, str]:
    """The field, value and path of one part of a serializer, list or object; no field for what is of a whole object."""
    if isinstance(field, serializers.BaseSerializer) and not isinstance(field, serializers.ListSerializer):
        part = getattr(field, "fields", {}).get(name)
    else:
        part = getattr(field, "child", None)
    if part is None:
        return None if isinstance(value, Mapping) else field, value, path
    if isinstance(value, list) and isinstance(name, int) and name < len(value):
        return part, value[name], f"{path}[{name}]"
    sent = value.get(name) if isinstance(value, Mapping) else value
    return part, sent, f"{path}.{name}" if path else str(name)
