"""Errors of the command line in the words that were typed: `--pattern`, not the name of a field."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typer.core import TyperGroup
from typer.exceptions import TyperException

from gridportal.base.errors import InputError

_NUMBERS = {"int_parsing": "a whole number", "float_parsing": "a number"}  # by pydantic's name of the mistake
HELP = {"help_option_names": ["-h", "--help"]}


class Commands(TyperGroup):
    """A group whose commands' InputErrors name the option or argument that was typed."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except InputError as error:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            raise as_typed(error, command.params if command else ()) from error


def as_typed(error: InputError, parameters: Iterable[Any]) -> InputError:
    """The same error, its field by its name on the command line where it is a parameter of the command."""
    wanted = error.field.replace("-", "_")
    for parameter in parameters:
        if wanted in (parameter.name, *(option.lstrip("-").replace("-", "_") for option in parameter.opts)):
            return InputError(_typed(parameter), error.value, error.accepted)
    return error


def not_a_number(error: TyperException) -> InputError | None:
    """Our own sentence for a number that cannot be read; None for any other mistake of the command line."""
    from pydantic import ValidationError  # late: most commands do without

    cause, parameter = error.__cause__, getattr(error, "param", None)
    if parameter is None or not isinstance(cause, ValidationError):
        return None
    first = cause.errors(include_url=False)[0]
    accepted = _NUMBERS.get(first["type"])
    return InputError(_typed(parameter), first["input"], accepted) if accepted else None


def _typed(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.name)
    return str(max(parameter.opts, key=len))
