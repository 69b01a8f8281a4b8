"""The `gridportal` command: one sub-command per capability, a table for people, one JSON document with --json.

A sub-command is imported when it is used: all of them together take five times as long to import as most of them alone.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import version as installed
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from gridportal.base.error_messages import sentence
from gridportal.base.errors import GridPortalError
from gridportal.base.printed_text import echo
from gridportal.base.typed_options import HELP, Commands, not_a_number

# Each sub-command and the function or group that it is, in the order of the help.
SOURCES = {
    "select": "scheduling.placing.commands.select:select_command",
    "match": "scheduling.resource_requests.commands.match:match_command",
    "experiment": "gridportal.experiments.commands:experiment_command",
    "serve": "gridportal.serve.commands:serve_command",
    "prepare": "gridportal.serve.commands:prepare_command",
    "health": "gridportal.serve.commands:health_command",
    "settings": "gridportal.serve.commands:settings_command",
    "demo": "gridportal.serve.demo.command:demo_command",
    "doctor": "gridportal.serve.commands:doctor_command",
    "skeleton": "scheduling.skeletons.commands.skeleton:app",
    "trace": "scheduling.profiles.commands.recording:app",
    "job": "scheduling.pages.commands.shown_job:app",
    "moves": "scheduling.rescheduling.commands.move_commands:app",
    "depots": "scheduling.checkpoints.commands.depots:depots_command",
    "redistribute": "scheduling.checkpoints.commands.redistribute:app",
    "srs": "scheduling.checkpoints.commands.srs:app",
    "report": "scheduling.usage.commands.report:app",
    "workload": "scheduling.workload_logs.commands.workload:app",
    "network": "monitoring.status.commands.network:app",
    "agent": "monitoring.telemetry.commands.agent:app",
    "telemetry": "monitoring.status.commands.telemetry:app",
    "testbed": "gridportal.testbed.commands:app",
    "application": "scheduling.pages.commands.registered:app",
    "person": "gridportal.serve.person_command:app",
}


class _Imported(Mapping[str, Any]):
    """The sub-commands by name, each imported when it is asked for."""

    def __getitem__(self, name: str) -> Any:
        module, _, attribute = SOURCES[name].partition(":")
        command = getattr(import_module(module), attribute)
        app = typer.Typer(rich_markup_mode=None)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
        return typer.main.get_group(app).commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(SOURCES)

    def __len__(self) -> int:
        return len(SOURCES)


class _Portal(Commands):
    """The command line, whose sub-commands are imported when they are used."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = _Imported()  # type: ignore[assignment]  # nobody adds to them


app = typer.Typer(
    name="gridportal",
    cls=_Portal,
    context_settings=HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        echo(f"gridportal {installed('gridportal')}")
        raise typer.Exit


@app.callback()
def everywhere(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Places MPI jobs on the right nodes of a shared cluster, watches them, and says why.

    Jobs are submitted on the page Submit of the portal or over REST (POST /api/jobs), not by a command."""


def main() -> None:
    """Run the command line. Bad input exits with 2, failure with 1, each with one sentence on standard error."""
    atexit.register(gc.freeze)  # a command that ends need not look through all that it imported for what is garbage
    try:
        sys.exit(app(standalone_mode=False, prog_name="gridportal") or 0)
    except GridPortalError as error:
        echo(str(error), err=True)
        sys.exit(error.exit_code)
    except TyperException as error:
        echo(_usage(error), err=True)
        sys.exit(error.exit_code)
    except typer.Exit as error:
        sys.exit(error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        echo("Stopped.", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads on; the end must not complain
        sys.exit(1)
    except Exception as error:
        message = sentence(error)
        if message is None:
            raise  # a mistake of ours: its traceback is wanted
        echo(message, err=True)
        sys.exit(1)


def _usage(error: TyperException) -> str:
    """What was wrong with the words, and where the right ones are."""
    context = getattr(error, "ctx", None)
    message = str(not_a_number(error) or error.format_message()).rstrip()
    if context is None:
        return message
    return f"{message if message.endswith(('.', '?', '!')) else message + '.'} See: {context.command_path} --help"
