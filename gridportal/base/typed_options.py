"""Errors of the command line in the words that were typed: `--pattern`, not the name of a field."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typer.core import TyperGroup

from gridportal.base.errors import InputError

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


def _typed(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.name)
    return str(max(parameter.opts, key=len))
