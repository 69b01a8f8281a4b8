"""The part of the form to register an application that says how it is stopped and goes on."""

from __future__ import annotations

import json
from typing import Any

from django import forms

from gridportal.base import bounded_json
from gridportal.base.bounded_json import UnreadableError
from gridportal.web.worded_form import WordedForm
from scheduling.jobs.core import command_line, stop_means
from scheduling.jobs.core.program_request import SIGNALS, Means, ProgramRequest
from scheduling.jobs.core.stop_means import MOST_SECONDS, USUAL_SECONDS, StopBy, StopMeans
from scheduling.pages import form_messages

_PLAIN = {"spellcheck": "false", "autocapitalize": "off", "class": "mono"}
_BY = [("", "nothing"), (Means.SIGNAL, "a signal"), (Means.FILE, "a file"), (Means.COMMAND, "a command")]
#: Where the parts of the document stand in the form.
_PLACES = {"by": "stop_by", "seconds": "stop_seconds", "restart": "stop_restart", "pattern": "stop_pattern"}
_PLACES |= {"ranks": "stop_ranks", "checkpoint": "stop_checkpoint", "every": "stop_every"}


def _line(label: str, help_text: str) -> forms.CharField:
    return forms.CharField(
        label=label, required=False, max_length=4096, widget=forms.TextInput(attrs=_PLAIN), help_text=help_text
    )


class StopFields(WordedForm):
    """Fields as people type them; `stop_document` is what the service takes. Each error is beside its field."""

    stop_by = forms.ChoiceField(
        label="Stop and continue",
        required=False,
        choices=[("", "it cannot"), (StopBy.SRS, "by the calls of SRS"), (StopBy.OWN, "by its own restart")],
        help_text="Whether it can be stopped and go on later, on other nodes or another number of ranks: it makes the "
        "calls of gridportal.runtime.srs or of the library in C, or it has a restart of its own.",
    )
    stop_seconds = forms.FloatField(
        label="Seconds to stop",
        required=False,
        min_value=1,
        max_value=MOST_SECONDS,
        help_text=f"How long it may take from the request to its end. Empty: {USUAL_SECONDS:g}.",
    )
    stop_ask_by = forms.ChoiceField(label="It is asked to stop by", required=False, choices=_BY)
    stop_ask = _line(
        "Which one",
        f"One of {', '.join(SIGNALS)}; or the name of a file, made in the run directory; or a command with its words.",
    )
    stop_restart = _line(
        "Words of a restart",
        "What stands in its command for {restart} when it goes on, such as -restart {file}; nothing when it starts. "
        "{file} is the newest file of the next field, {name} its name alone.",
    )
    stop_pattern = _line(
        "File of a restart",
        "Such as *.restart: a file that must be there, in the folder that {checkpoints} in its command names.",
    )
    stop_ranks = _line(
        "Ranks of a restart",
        'On how many it can go on, such as {"choices": [2, 4, 8]}. Empty: on all that it runs on.',
    )
    stop_checkpoint_by = forms.ChoiceField(label="It is asked for a checkpoint by", required=False, choices=_BY)
    stop_checkpoint = _line("Which one", "As above. It goes on then, so that a failure costs less.")
    stop_every = forms.FloatField(label="Every so many seconds", required=False, help_text="Empty: nobody asks.")

    def clean(self) -> dict[str, Any]:
        """Each part is checked by itself, so that each has its own error."""
        cleaned = super().clean() or self.cleaned_data
        for error in stop_means.problems(self.stop_document):
            place = place_of(error.field)
            if not self.has_error(place):
                self.add_error(place, form_messages.beside(error))
        return cleaned

    @property
    def stop_document(self) -> dict[str, Any]:
        """What is said of it, after is_valid()."""
        given = self.cleaned_data
        document: dict[str, Any] = {"by": given.get("stop_by") or ""}
        document |= {"seconds": given["stop_seconds"]} if given.get("stop_seconds") is not None else {}
        if document["by"] != StopBy.OWN:
            return document
        document |= _request(given.get("stop_ask_by"), given.get("stop_ask"))
        document |= {"restart": _split(given.get("stop_restart")), "pattern": given.get("stop_pattern") or ""}
        optional = {
            "ranks": _json(given.get("stop_ranks")),
            "checkpoint": _request(given.get("stop_checkpoint_by"), given.get("stop_checkpoint")),
            "every": given.get("stop_every"),
        }
        return document | {name: value for name, value in optional.items() if value not in (None, {})}


def place_of(field: str) -> str:
    """The form's field for a part of the document.

    >>> place_of("stop_means.signal"), place_of("stop_means.checkpoint.file"), place_of("stop_means")
    ('stop_ask', 'stop_checkpoint', 'stop_ask')
    """
    part = field.split(".")[1] if "." in field else ""
    return _PLACES.get(part, "stop_ask")


def from_means(means: StopMeans) -> dict[str, Any]:
    """The fields' values for what is there."""
    own = means.own
    values = {"stop_by": means.by.value, "stop_seconds": means.seconds if means else None}
    if own is None:
        return values
    return {
        **values,
        **_typed("stop_ask", own.ask),
        "stop_restart": command_line.join(own.restart),
        "stop_pattern": own.pattern,
        "stop_ranks": json.dumps(own.ranks) if own.ranks else "",
        **(_typed("stop_checkpoint", own.checkpoint) if own.checkpoint else {}),
        "stop_every": own.every,
    }


def stop_rows(means: StopMeans) -> list[tuple[str, str, str]]:
    """What is said of it, as `output_rows`: for the page of an application."""
    if not means:
        return []
    if means.own is None:
        return [("Stop and continue", "by the calls of SRS", f"within {means.seconds:g} s")]
    own = means.own
    rows = [
        ("Stop and continue", _said(own.ask), f"within {means.seconds:g} s"),
        ("Restart", command_line.join(own.restart), f"from {own.pattern}"),
    ]
    if own.checkpoint:
        rows.append(("Checkpoint", _said(own.checkpoint), f"every {own.every:g} s" if own.every else ""))
    return rows


def _said(request: ProgramRequest) -> str:
    return f"{request.means.value} {command_line.join(request.argv)}"


def _typed(field: str, request: ProgramRequest) -> dict[str, str]:
    is_command = request.means is Means.COMMAND
    return {
        f"{field}_by": request.means.value,
        field: command_line.join(request.argv) if is_command else request.argv[0],
    }


def _request(by: str | None, text: str | None) -> dict[str, Any]:
    if not by:
        return {}
    return {by: _split(text) if by == Means.COMMAND else text or ""}


def _split(text: str | None) -> Any:
    """The words; text whose quotation is not closed stays text, which nobody accepts as words."""
    try:
        return command_line.split(text or "")
    except ValueError:
        return text


def _json(text: str | None) -> Any:
    try:
        return bounded_json.loads(text) if text and text.strip() else {}
    except UnreadableError:
        return text
