"""The form with which administrators register an application."""

from __future__ import annotations

import json
from typing import Any

from django import forms

from gridportal.base import bounded_json
from gridportal.base.bounded_json import UnreadableError
from gridportal.base.errors import InputError
from gridportal.web.worded_form import NAME_NEEDED
from scheduling.jobs.core import command_line, patterns
from scheduling.jobs.core.launcher import LAUNCHER
from scheduling.jobs.models import Application
from scheduling.pages import form_messages as form_words
from scheduling.pages.output_fields import OutputFields, from_patterns
from scheduling.pages.stop_fields import StopFields, from_means, place_of

EXAMPLE = '[{"name": "size", "label": "Size", "type": "int", "min": 1, "max": 100, "default": 10}]'


class JsonField(forms.CharField):
    """JSON of one shape in a text area; says line and column of what cannot be read."""

    def __init__(self, shape: type, **options: Any) -> None:
        self.shape = shape
        rows = options.pop("rows", 4)
        widget = forms.Textarea(attrs={"rows": rows, "spellcheck": "false"})
        super().__init__(required=False, widget=widget, **options)

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        try:
            document = bounded_json.loads(text) if text.strip() else self.shape()
        except UnreadableError as error:
            raise forms.ValidationError(error.sentence) from error
        if not isinstance(document, self.shape):
            raise forms.ValidationError(f"This is not a {'list' if self.shape is list else 'JSON object'}.")
        return document


class ApplicationForm(StopFields, OutputFields):
    """The fields of an application, as services.register_application takes them."""

    name = forms.CharField(max_length=120, error_messages={"required": NAME_NEEDED})
    slug = forms.CharField(label="Short name", max_length=60, help_text="In addresses: small letters, digits, dashes.")
    description = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))
    command = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="Program and arguments, as in a shell, such as {python} -m mpi4py /shared/ring.py {size}. {name} "
        "stands for the parameter of that name, {python} for the portal's Python, {ranks} for the number of ranks, "
        "{shares} for the part of the work of each rank, with commas between, "
        "{run_dir} for the run's own folder, {checkpoints} for what a job that can be stopped keeps over all its runs. "
        "“-m mpi4py” ends the whole job when one rank fails. Each word stays one "
        "argument: nothing that a person types reaches a shell.",
    )
    parameters = JsonField(
        list,
        rows=10,
        help_text=f"A JSON list, such as {EXAMPLE}. Types: int and float (min, max), choice (choices), text "
        "(max_length, pattern), bool. With a default a field may stay empty; help is shown below "
        "it. Empty: it takes none.",
    )
    environment = JsonField(dict, help_text='A JSON object, such as {"OMP_NUM_THREADS": "1"}')
    launcher = forms.CharField(
        required=False,
        widget=forms.TextInput(attrs={"spellcheck": "false"}),
        help_text=f"Words before the command. Empty: {command_line.join(LAUNCHER)}, or the cluster's own; "
        "{hostfile} is a file with a node on each line, in rank order. For Open MPI leave it empty and say so in the "
        "field MPI, or give: mpirun -n {ranks} --map-by seq --hostfile {hostfile}",
    )
    modules = forms.CharField(required=False, help_text="Environment modules to load, such as gcc/12.2 openmpi/4.1.")
    mpi = forms.CharField(
        label="MPI", required=False, max_length=60, help_text="What it is built with, such as MPICH 4 or Open MPI 4.1."
    )
    pattern = forms.ChoiceField(
        required=False,
        choices=[("", "none"), *((name, name) for name in patterns.NAMES)],
        help_text="Which ranks exchange data; nodes are chosen by it unless a person asks for something else.",
    )
    ranks = JsonField(
        dict,
        help_text='How many it can run on: {"choices": [1, 2, 4, 8]} or {"min": 1, "max": 64}. Empty: any number from '
        "1 to 4096, as far as the cluster has nodes.",
    )
    scaling = JsonField(
        dict,
        help_text='Seconds that it takes by ranks: {"ranks": {"2": 100, "4": {"compute": 40, "communicate": 12}}}, and '
        "perhaps the cpu that each rank had and the bandwidth (bit/s) of the slowest pair there. With it the submit "
        "form chooses ranks and nodes together. Empty: from past runs and skeletons.",
    )
    phases = forms.CharField(
        required=False,
        help_text="Names of the parts it times and reports with gridportal.runtime.phases, separated by commas, for "
        "people to know. Empty when it reports none: it runs all the same.",
    )
    enabled = forms.BooleanField(
        required=False, initial=True, help_text="Off: it stays in the list, but nobody can submit it."
    )

    def own_fields(self) -> list[forms.BoundField]:
        """All but those of its output and of its stop, in their order."""
        others = {**OutputFields.base_fields, **StopFields.base_fields}
        return [field for field in self if field.name not in others]

    def fields_of_application(self) -> dict[str, Any]:
        """As the service takes them, after is_valid()."""
        own = {field.name: self.cleaned_data[field.name] for field in self.own_fields()}
        return {**own, "stop_means": self.stop_document, "output_patterns": self.output_patterns.document()}

    def clean_command(self) -> list[str]:
        """The argument list."""
        try:
            return command_line.split(self.cleaned_data["command"])
        except ValueError as error:
            raise forms.ValidationError(f"The words cannot be separated: {error}.") from error

    def clean_launcher(self) -> list[str]:
        """The argument list."""
        try:
            return command_line.split(self.cleaned_data["launcher"])
        except ValueError as error:
            raise forms.ValidationError(f"The words cannot be separated: {error}.") from error

    def clean_modules(self) -> list[str]:
        """The names."""
        return str(self.cleaned_data["modules"]).replace(",", " ").split()

    def clean_phases(self) -> list[str]:
        """The names."""
        return [name.strip() for name in self.cleaned_data["phases"].split(",") if name.strip()]

    def blame(self, error: InputError) -> None:
        """Put an error of the service beside its field."""
        field = error.field.partition(".")[0].partition("[")[0]
        place = place_of(error.field) if field == "stop_means" else {"nodes": "ranks"}.get(field, field)
        self.add_error(*((place, form_words.beside(error)) if place in self.fields else (None, str(error))))


def from_application(application: Application) -> dict[str, Any]:
    """The form's values for an application that is there."""
    return {
        "name": application.name,
        "slug": application.slug,
        "description": application.description,
        "command": command_line.join(application.command),
        "parameters": json.dumps(application.parameters, indent=1),
        "environment": json.dumps(application.environment) if application.environment else "",
        "launcher": command_line.join(application.launcher),
        "modules": " ".join(application.modules),
        "mpi": application.mpi,
        "pattern": application.pattern,
        "ranks": json.dumps(application.ranks) if application.ranks else "",
        "scaling": json.dumps(application.scaling) if application.scaling else "",
        "phases": ", ".join(application.phases),
        "enabled": application.enabled,
        **from_means(application.stop_means),
        **from_patterns(application.output_patterns),
    }
