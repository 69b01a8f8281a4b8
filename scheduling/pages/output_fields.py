"""The part of the form to register an application that says what lines of its output mean."""

from __future__ import annotations

from typing import Any

from django import forms

from gridportal.base.errors import InputError
from gridportal.web.worded_form import WordedForm
from scheduling.jobs.core import output_text
from scheduling.jobs.core.output_patterns import TIME_UNITS, NumberPattern, OutputPatterns
from scheduling.pages import form_messages

#: The parts of the patterns, each beside the field of its name.
PARTS = ("success", "failure", "seconds", "figures", "progress")
_PLAIN = {"spellcheck": "false", "autocapitalize": "off"}


def _line(label: str, help_text: str) -> forms.CharField:
    widget = forms.TextInput(attrs={**_PLAIN, "class": "mono"})
    return forms.CharField(label=label, required=False, widget=widget, help_text=help_text)


class OutputFields(WordedForm):
    """Patterns as people type them; `output_patterns` is the document of those that can be accepted."""

    success = _line("Line of success", r"Such as Verification\s*=\s*SUCCESSFUL. Without such a line a job has failed.")
    failure = _line("Line of failure", "Such as ERROR|NaN. With such a line a job has failed.")
    seconds = _line(
        "Its own time",
        r"With one group around the number, such as Time in seconds\s*=\s*(.*). Of several lines one counts.",
    )
    seconds_unit = forms.ChoiceField(
        label="Unit of that time", choices=[(unit, unit) for unit in TIME_UNITS], required=False
    )
    seconds_which = forms.ChoiceField(
        label="Which line counts", choices=[("last", "the last one"), ("first", "the first one")], required=False
    )
    figures = forms.CharField(
        label="Figures",
        required=False,
        widget=forms.Textarea(attrs={**_PLAIN, "rows": 3}),
        help_text="One on each line: name (unit) = pattern, such as energy (eV) = Total Energy = (.*). The unit may be "
        "left out; with (eV, first) the first line counts that matches, else the last.",
    )

    progress = _line(
        "Line of progress",
        r"With a group for the step, such as ^ *(?P<step>\d+) +(?P<elapsed>\S+). Beside it groups may stand for of, "
        "seconds (since the line before) and elapsed (since the beginning). So a run has a contract.",
    )
    progress_of = forms.CharField(
        label="Parameter: number of steps", required=False, widget=forms.TextInput(attrs=_PLAIN)
    )

    progress_file = forms.CharField(
        label="File with these lines",
        required=False,
        widget=forms.TextInput(attrs={**_PLAIN, "class": "mono"}),
        help_text="In the run's own folder, such as output/energies.csv. Empty: they stand in its output.",
    )
    rounds = forms.BooleanField(
        label="Count the rounds of its outermost loop",
        required=False,
        help_text="In place of such lines: the recording library tells how often the MPI calls of rank 0 repeat.",
    )

    def clean_figures(self) -> list[dict[str, Any]]:
        """As the document has them."""
        try:
            return output_text.parse_figures(self.cleaned_data["figures"])
        except InputError as error:
            raise forms.ValidationError(form_messages.beside(error)) from error

    def clean(self) -> dict[str, Any]:
        """Each part is checked by itself, so that each has its own error."""
        cleaned = super().clean() or self.cleaned_data
        for part, document in self._documents().items():
            try:
                OutputPatterns.read({part: document})
            except InputError as error:
                self.add_error(part, form_messages.beside(error))
        if cleaned.get("rounds") and cleaned.get("progress"):
            self.add_error("rounds", "Leave it off beside a line of progress: one of them tells it.")
        return cleaned

    @property
    def output_patterns(self) -> OutputPatterns:
        """The patterns of the fields that have no error, after is_valid()."""
        return OutputPatterns.read(self._documents())

    def _documents(self) -> dict[str, Any]:
        """Those of the parts that something is said of, and that have no error."""
        given = {part: self.cleaned_data[part] for part in PARTS if self.cleaned_data.get(part)}
        if "seconds" in given:
            about = {name: self.cleaned_data.get(f"seconds_{name}") or "" for name in ("unit", "which")}
            given["seconds"] = {"pattern": given["seconds"], **about}
        if "progress" in given:
            about = {name: self.cleaned_data.get(f"progress_{name}") or "" for name in ("of", "file")}
            given["progress"] = {"pattern": given["progress"], **about}
        if self.cleaned_data.get("rounds") and "progress" not in given:
            given["rounds"] = True
        return given


def from_patterns(patterns: OutputPatterns) -> dict[str, Any]:
    """The fields' values for patterns that are there."""
    seconds = patterns.seconds
    return {
        "success": patterns.success.text if patterns.success else "",
        "failure": patterns.failure.text if patterns.failure else "",
        "seconds": seconds.pattern.text if seconds else "",
        "seconds_unit": (seconds.unit if seconds else "") or "s",
        "seconds_which": "first" if seconds and seconds.takes_first else "last",
        "figures": output_text.figures(patterns),
        "progress": patterns.progress.pattern.text if patterns.progress else "",
        "progress_of": patterns.progress.of if patterns.progress else "",
        "progress_file": patterns.progress.file if patterns.progress else "",
        "rounds": patterns.rounds,
    }


def output_rows(patterns: OutputPatterns) -> list[tuple[str, str, str]]:
    """What each pattern is for, the pattern, and what more is said of it: for the page of an application."""
    rows = [
        ("Line of success", patterns.success.text if patterns.success else "", "without it a job has failed"),
        ("Line of failure", patterns.failure.text if patterns.failure else "", "with it a job has failed"),
        ("Its own time", *_number_words(patterns.seconds)),
        *((f"Figure: {name}", *_number_words(each)) for name, each in patterns.figures.items()),
    ]
    if progress := patterns.progress:
        about = (
            f"the parameter {progress.of} has their number" if progress.of else "",
            f"in {progress.file}" if progress.file else "",
        )
        rows.append(("Line of progress", progress.pattern.text, ", ".join(filter(None, about))))
    if patterns.rounds:
        rows.append(("Progress", "rounds of its outermost loop", "as the recording library counts them"))
    return [row for row in rows if row[1]]


def _number_words(number: NumberPattern | None) -> tuple[str, str]:
    if number is None:
        return "", ""
    line = "the first such line counts" if number.takes_first else ""
    return number.pattern.text, ", ".join(filter(None, [f"in {number.unit}" if number.unit else "", line]))
