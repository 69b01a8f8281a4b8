"""The form's rows for groups of ranks and for who talks to whom; or the whole document in their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.template.loader import render_to_string

from gridportal.base import bounded_json
from gridportal.base.bounded_json import UnreadableError
from gridportal.base.errors import InputError
from scheduling.jobs.core import label_conditions, patterns, specification_text
from scheduling.jobs.core.application_specification import ApplicationSpecification
from scheduling.pages import form_messages

_GROUP = ("name", "count", "require", "most")
_LINK = ("source", "target", "weight", "pattern")
_MOST_FILE = 1_000_000
Row = Mapping[str, str]


@dataclass(frozen=True)
class Draft:
    """What stands in the rows, in the text and in the file, as it was typed."""

    groups: tuple[Row, ...] = ()
    links: tuple[Row, ...] = ()
    text: str = ""
    size: int = field(default=0)

    @classmethod
    def of(cls, asked: ApplicationSpecification) -> Draft:
        """The rows of a specification."""
        groups = tuple(
            {
                "name": group.name,
                "count": str(group.count),
                "require": ", ".join(text for pair in group.require.items() for text in label_conditions.each(*pair)),
                "most": group.most or "",
            }
            for group in asked.groups
        )
        links = tuple(
            {"source": link.source, "target": link.target, "weight": f"{link.weight:g}", "pattern": link.pattern}
            for link in asked.links
        )
        return cls(groups, links)

    def document(self) -> dict[str, Any]:
        """The document that it says. Raises InputError."""
        if not self.text.strip():
            return {"groups": [_group(row) for row in self.groups], "links": [_link(row) for row in self.links]}
        if self.groups:
            raise InputError("specification", "both", "groups in rows or in a document, not both")
        if self.size > _MOST_FILE:
            raise InputError("specification", f"{self.size} bytes", f"a file of at most {_MOST_FILE} bytes")
        try:
            document = bounded_json.loads(self.text)
        except UnreadableError as error:
            raise InputError("specification", "", f"JSON that can be read ({error})") from error
        if not isinstance(document, dict):
            raise InputError("specification", "", "an object with groups, links, pins or exclude")
        return document


class SpecificationWidget(forms.Widget):
    """Rows that can be added with the keyboard, a text for the whole document, and a file in its place."""

    needs_multipart_form = True
    use_fieldset = True

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Draft:
        """What was sent, empty rows left out."""
        file = files.get(f"{name}-file") if files else None
        text = file.read(_MOST_FILE).decode("utf-8", "replace") if file else str(data.get(f"{name}-document") or "")
        rows = (_rows(data, f"{name}-group", _GROUP), _rows(data, f"{name}-link", _LINK))
        return Draft(*rows, text, file.size if file else 0)

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> Any:
        """As HTML; `value` is a draft that was sent, or a specification."""
        draft = Draft.of(value) if isinstance(value, ApplicationSpecification) else value or Draft()
        context = {"name": name, "draft": draft, "attrs": attrs or {}, "patterns": patterns.NAMES}
        context["invalid"] = (attrs or {}).get("aria-invalid") == "true"
        return render_to_string("scheduling/submit/specification.html", context)


class SpecificationField(forms.Field):
    """Groups and links; pins and excluded nodes have fields of their own."""

    widget = SpecificationWidget

    def __init__(self) -> None:
        super().__init__(label="Groups of ranks", required=False)

    def clean(self, value: Draft) -> dict[str, Any]:
        """The document that was sent."""
        try:
            return value.document()
        except InputError as error:
            raise forms.ValidationError(form_messages.beside(error)) from error


def pin_fields(names: Sequence[str]) -> dict[str, forms.Field]:
    """The fields of pins and of excluded nodes. `names`: some nodes of the cluster, for the examples."""
    pins, exclude = "Where ranks must run: rank=node pairs", "Where no rank may run: names of nodes"
    if len(names) >= 2:
        first, second = names[:2]
        pins, exclude = f"{pins}, such as 0={first} 1={second}", f"{exclude}, such as {first} {second}"
    return {
        "pins": forms.CharField(label="Pins", required=False, max_length=4000, help_text=f"{pins}."),
        "exclude": forms.CharField(label="Excluded nodes", required=False, max_length=4000, help_text=f"{exclude}."),
    }


def specification(cleaned: Mapping[str, Any]) -> ApplicationSpecification:
    """All of it together. Raises InputError whose field is one of the form."""
    document = {name: value for name, value in (cleaned.get("specification") or {}).items() if value not in ("", [])}
    if cleaned.get("method") not in ("pattern", "balanced"):
        document.pop("links", None)  # such a method has no use for them: they are hidden
    asked = ApplicationSpecification.read(document)
    pins = specification_text.parse_pins(cleaned.get("pins") or "")
    try:
        return asked.with_pins(pins, specification_text.split_names(cleaned.get("exclude") or ""))
    except InputError as error:
        first = error.field.partition(".")[0]
        raise InputError(first if first in ("pins", "exclude") else "pins", error.value, error.accepted) from error


def _rows(data: Any, prefix: str, names: tuple[str, ...]) -> tuple[Row, ...]:
    columns = [_all(data, f"{prefix}-{name}") for name in names]
    count = max(map(len, columns), default=0)
    filled = [column + [""] * (count - len(column)) for column in columns]
    rows = (dict(zip(names, (text.strip() for text in row), strict=True)) for row in zip(*filled, strict=True))
    return tuple(row for row in rows if any(value for name, value in row.items() if name not in ("count", "weight")))


def _all(data: Any, name: str) -> list[str]:
    if hasattr(data, "getlist"):
        return [str(value) for value in data.getlist(name)]
    value = data.get(name, [])
    return [str(each) for each in value] if isinstance(value, list | tuple) else [str(value)]


def _group(row: Row) -> dict[str, Any]:
    count = row["count"]
    require = label_conditions.listed_conditions(row["require"])
    return {
        "name": row["name"],
        "count": int(count) if count.isascii() and count.isdigit() and len(count) < 9 else count or 1,
        "require": require,
        "most": row["most"] or None,
    }


def _link(row: Row) -> dict[str, Any]:
    return {
        "source": row["source"],
        "target": row["target"],
        "weight": _number(row["weight"]),
        "pattern": row["pattern"],
    }


def _number(text: str) -> float | str:
    try:
        return float(text or 1.0)
    except ValueError:
        return text
