"""The form with which people bring a program of their own; what it asks for is a ProgramRequest."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from gridportal.base.errors import InputError
from gridportal.web.worded_form import NAME_NEEDED, WordedForm
from scheduling.jobs.core import command_line, patterns, program_start
from scheduling.jobs.core.parameters import type_of
from scheduling.jobs.core.program_start import MPI_LABELS, ProgramKind
from scheduling.jobs.models import Application
from scheduling.jobs.ownership_models import OwnProgram
from scheduling.jobs.services.own_programs import ProgramRequest
from scheduling.pages.form_messages import beside
from scheduling.pages.output_fields import OutputFields, from_patterns

_TYPES = [
    ("int", "whole number"),
    ("float", "number"),
    ("choice", "one of a list"),
    ("text", "text"),
    ("bool", "yes or no"),
]
_PLAIN = {"spellcheck": "false", "autocomplete": "off"}
#: Ranks of the command lines that are shown.
_SHOWN_RANKS = 4
#: Short enough for a narrow page; what each does stands below the field.
_STARTED_AS = {
    ProgramKind.MPI.value: "MPI program or script",
    ProgramKind.PYTHON.value: "Python program with mpi4py",
    ProgramKind.BATCH.value: "Batch script",
}
_DOES = {
    ProgramKind.MPI: "starts the program once for each rank, on the nodes of the job",
    ProgramKind.PYTHON: "the same for a file in Python that imports mpi4py",
    ProgramKind.BATCH: "starts the script once, on the first node; its own lines start the ranks",
}
_SHORT = {**_PLAIN, "size": "9"}
_SHOWN = ("name", "type", "default", "min", "max")
_NUMBER = {"inputmode": "decimal", "size": "6"}


def starts() -> list[tuple[str, str, str]]:
    """Each way to start a program: its name, the command line that it makes, and what that does."""
    return [
        (kind.label.partition(":")[0], program_start.command_line_of(kind, _SHOWN_RANKS), _DOES[kind])
        for kind in ProgramKind
    ]


class ParameterRow(WordedForm):
    """One parameter of the program. A row without a name is left out."""

    name = forms.CharField(required=False, max_length=40, widget=forms.TextInput(attrs=_SHORT))
    type = forms.ChoiceField(required=False, choices=_TYPES)
    default = forms.CharField(required=False, max_length=200, widget=forms.TextInput(attrs=_SHORT))
    min = forms.FloatField(label="Least", required=False, widget=forms.TextInput(attrs=_NUMBER))
    max = forms.FloatField(label="Most", required=False, widget=forms.TextInput(attrs=_NUMBER))
    choices = forms.CharField(
        label="List",
        required=False,
        max_length=1000,
        widget=forms.TextInput(attrs={"placeholder": "S, W, A", "size": "12"}),
    )

    def document(self, stored: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
        """As an application keeps it; empty for a row that is left out. What the row does not show, such as a pattern,
        stays as a `stored` parameter of this name and type has it."""
        given = self.cleaned_data
        if not given.get("name"):
            return {}
        parts = {name: given.get(name) for name in _SHOWN} | {"choices": _choices(given["choices"])}
        same = (each for each in stored if (each.get("name"), type_of(each)) == (given["name"], given["type"]))
        unseen = {name: value for name, value in next(same, {}).items() if name not in self.fields}
        return unseen | {name: value for name, value in parts.items() if value not in (None, "", [])}


def _choices(text: str) -> list[str]:
    """The words of a list with commas between; one that has a comma itself stands in quotes."""
    rows = csv.reader([text], skipinitialspace=True)
    return [part.strip() for row in rows for part in row if part.strip()]


def _listed(choices: Sequence[object]) -> str:
    """The same as text."""
    words = [str(each) for each in choices]
    return ", ".join('"{}"'.format(word.replace('"', '""')) if {",", '"'} & {*word} else word for word in words)


ParameterRows = forms.formset_factory(ParameterRow, extra=2, max_num=50)


class ProgramForm(OutputFields):
    """What a person says of a program of their own."""

    name = forms.CharField(
        max_length=120,
        help_text="As you and those you share it with shall see it.",
        error_messages={"required": NAME_NEEDED},
    )
    upload = forms.FileField(
        label="Upload the program",
        required=False,
        allow_empty_file=True,
        help_text=f"A script or a compiled program of at most {program_start.MAX_BYTES // 1000} kB.",
    )
    text = forms.CharField(
        label="Or paste a script",
        required=False,
        strip=False,
        max_length=program_start.MAX_BYTES,
        widget=forms.Textarea(attrs={"rows": 12, "data-script": "id_kind", **_PLAIN, "autocapitalize": "off"}),
        help_text="The lines #SBATCH of a batch script fill the form with which it is submitted.",
    )
    path = forms.CharField(
        label="Or its path on the nodes",
        required=False,
        max_length=1000,
        widget=forms.TextInput(attrs=_PLAIN),
        help_text="Such as /shared/ann/solver, where all nodes see it.",
    )
    kind = forms.ChoiceField(
        label="Started as",
        choices=list(_STARTED_AS.items()),
        initial=ProgramKind.MPI.value,
        help_text="A batch script finds its nodes in the environment: mpiexec, mpirun and, on Slurm, srun take them "
        "from there. $SLURM_NTASKS is the number of ranks.",
    )
    arguments = forms.CharField(
        required=False,
        max_length=4000,
        widget=forms.TextInput(attrs=_PLAIN),
        help_text="As in a shell, such as --size {size} {run_dir}/result.txt. {name} stands for the parameter of that "
        "name, {ranks} for the number of ranks, {run_dir} for the job’s own folder.",
    )
    mpi = forms.ChoiceField(label="MPI", choices=list(MPI_LABELS.items()), initial="mpich")
    min_ranks = forms.IntegerField(label="Ranks at least", required=False, min_value=1, max_value=4096)
    max_ranks = forms.IntegerField(label="Ranks at most", required=False, min_value=1, max_value=4096)
    pattern = forms.ChoiceField(
        required=False,
        choices=[("", "not known"), *((name, name) for name in patterns.NAMES)],
        help_text="Which ranks exchange data. A recorded job tells it, too.",
    )
    environment = forms.CharField(
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="A variable on each line, such as OMP_NUM_THREADS=1.",
    )
    modules = forms.CharField(
        required=False, max_length=4000, help_text="Environment modules to load, such as gcc/12.2 openmpi/4.1."
    )
    description = forms.CharField(required=False, max_length=10_000, widget=forms.Textarea(attrs={"rows": 2}))

    def __init__(self, *args: Any, stored: OwnProgram | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.parameter_errors = list[str]()
        self._stored = {"text": stored.text, "path": stored.path} if stored else {}
        self._application = stored.application if stored else None

    def clean_arguments(self) -> list[str]:
        """The words."""
        try:
            return command_line.split(self.cleaned_data["arguments"])
        except ValueError as error:
            raise forms.ValidationError(f"The words cannot be separated: {error}.") from error

    def clean_environment(self) -> dict[str, str]:
        """The variables by name."""
        variables = {}
        for line in filter(None, (line.strip() for line in self.cleaned_data["environment"].splitlines())):
            name, has_value, value = line.partition("=")
            if not has_value:
                raise forms.ValidationError(f"{line[:60]} has no value. Enter NAME=VALUE on each line.")
            variables[name.strip()] = value
        return variables

    def clean_modules(self) -> list[str]:
        """The names."""
        return str(self.cleaned_data["modules"]).replace(",", " ").split()

    def clean(self) -> dict[str, Any]:
        """Only one of upload, text and path may be given; what the form was filled with gives way."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        given = [name for name in ("upload", "text", "path") if cleaned.get(name)]
        for name in [each for each in given if len(given) > 1 and self._is_stored(each)]:
            cleaned[name] = ""
            given.remove(name)
        for name in given[1:]:
            self.add_error(name, "Give one of the three: an upload, a pasted script or a path.")
        return cleaned

    def _is_stored(self, name: str) -> bool:
        same = str(self.cleaned_data.get(name) or "").replace("\r\n", "\n")
        return bool(same) and same == self._stored.get(name)

    def asked(self, parameters: Sequence[Mapping[str, Any]]) -> ProgramRequest:
        """What is asked for; fields with errors of their own are as if nobody had filled them in."""
        given = self.cleaned_data
        upload, text = given.get("upload"), given.get("text")
        content = upload.read() if upload else text.replace("\r\n", "\n").encode() if text else None
        limits = {name: given.get(f"{name}_ranks") for name in ("min", "max")}
        return ProgramRequest(
            name=given.get("name", ""),
            kind=given.get("kind", ProgramKind.MPI.value),
            path=(given.get("path") or "").strip(),
            content=content,
            file_name=upload.name if upload else "script" if text else "",
            arguments=given.get("arguments") or [],
            mpi=given.get("mpi", "mpich"),
            description=given.get("description", ""),
            parameters=parameters,
            environment=given.get("environment") or {},
            modules=given.get("modules") or [],
            pattern=given.get("pattern", ""),
            output_patterns=self.output_patterns.document(),
            ranks={name: value for name, value in limits.items() if value} or self._rank_choices(),
            enabled=self._application.enabled if self._application else True,
        )

    def _rank_choices(self) -> dict[str, Any]:
        """The single numbers of ranks that a program takes, which the form does not show."""
        limits = self._application.ranks if self._application else {}
        return {"choices": limits["choices"]} if "choices" in limits else {}

    def blame(self, errors: Sequence[InputError]) -> None:
        """Put errors of the service beside their fields, where these have none yet."""
        for error in errors:
            first = error.field.partition(".")[0].partition("[")[0]
            place = _PLACES.get(first, first)
            if place in self.fields and place not in self.errors:
                self.add_error(place, beside(_by_label(error) if place == "kind" else error))
            elif first == "parameters":
                self.parameter_errors.append(beside(error))
            elif place not in self.fields:
                self.add_error(None, str(error))


def _by_label(error: InputError) -> InputError:
    """An error of what starts its ranks, by what the choices are called in the form."""
    labels = {kind.value: kind.label.partition(":")[0] for kind in ProgramKind}
    kind, comma, why = error.accepted.partition(",")
    value = labels.get(str(error.value), error.value)
    return InputError(error.field, value, f"{labels.get(kind, kind)}{comma}{why}")


_PLACES = {"command": "arguments", "content": "upload", "ranks": "min_ranks"}


def from_program(application: Application) -> dict[str, Any]:
    """First values of the form for a program that is there."""
    program, limits = application.program, application.rank_limits
    return {
        "name": application.name,
        "text": program.text,
        "path": program.path,
        "kind": program.kind,
        "arguments": command_line.join(program_start.arguments_of(ProgramKind(program.kind), application.command)),
        "mpi": program.mpi,
        "min_ranks": limits.get("min"),
        "max_ranks": limits.get("max"),
        "pattern": application.pattern,
        "environment": "\n".join(f"{name}={value}" for name, value in application.environment.items()),
        "modules": " ".join(application.modules),
        "description": application.description,
        **from_patterns(application.output_patterns),
    }


def shown_values(application: Application) -> dict[str, Any]:
    """All that its forms show, by which one sees whether somebody has changed it since."""
    program = application.program
    digest = hashlib.sha256(bytes(program.content or b"")).hexdigest()
    upload = f"{program.file_name}, {program.size} bytes, SHA-256 {digest[:12]}" if program.file_name else ""
    values = {**from_program(application), "parameters": application.parameters, "upload": upload}
    return values | {"ranks": application.ranks, "enabled": application.enabled}


def parameter_rows(application: Application) -> list[dict[str, Any]]:
    """First values of the rows of its parameters."""
    rows = application.parameters
    return [{**each, "type": type_of(each), "choices": _listed(each.get("choices", ()))} for each in rows]
