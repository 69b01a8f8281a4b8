"""What a browser would send of a form of a page, without a browser."""

from __future__ import annotations

from html.parser import HTMLParser

from django.http import HttpResponseBase


class _Fields(HTMLParser):
    """The fields of each form, with the address that it is sent to."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[tuple[str, dict[str, list[str]]]] = []
        self._box = ""
        self._text: str | None = None
        self._options: list[tuple[bool, str | None, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("name") or ""
        if tag == "form":
            self.forms.append((given.get("action") or "", {}))
        elif tag == "option":
            self._options.append(("selected" in given, given.get("value"), ""))
        elif tag in ("textarea", "select") and self.forms:
            self._box, self._text, self._options = name, "", []
        elif tag == "input" and name and self.forms and _is_sent(given):
            unsaid = "on" if given.get("type") in ("checkbox", "radio") else ""
            self._add(name, given.get("value", unsaid) or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._box:
            # A browser leaves the line break out that follows <textarea>.
            self._add(self._box, (self._text or "").removeprefix("\n"))
        elif tag == "select" and self._box:
            chosen = [each for each in self._options if each[0]] or self._options[:1]
            for _, value, text in chosen:
                self._add(self._box, text.strip() if value is None else value)
        if tag in ("textarea", "select"):
            self._box = ""

    def handle_data(self, data: str) -> None:
        if self._box and self._options:
            is_selected, value, text = self._options[-1]
            self._options[-1] = is_selected, value, text + data
        elif self._box:
            self._text = (self._text or "") + data

    def _add(self, name: str, value: str) -> None:
        self.forms[-1][1].setdefault(name, []).append(value)


def _is_sent(given: dict[str, str | None]) -> bool:
    """Whether an input goes with its form as it stands."""
    kind = given.get("type")
    return kind not in ("checkbox", "radio", "file") or "checked" in given


def filled_form(answer: HttpResponseBase, field: str, action: str = "") -> dict[str, list[str]]:
    """The fields of the first form that has this field and whose address ends so, as it is filled in."""
    parser = _Fields()
    parser.feed(answer.content.decode())  # type: ignore[attr-defined]  # pages are not streamed
    found = [fields for address, fields in parser.forms if field in fields and address.endswith(action)]
    assert found, f"no form with {field} that is sent to {action}"
    return found[0]
