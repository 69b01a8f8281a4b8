"""The `gridportal` command: one sub-command per capability, a table for people, one JSON document with --json."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version as installed
from typing import Annotated

import typer
from typer.exceptions import TyperException

from gridportal.base.error_messages import sentence
from gridportal.base.errors import GridPortalError
from gridportal.base.typed_options import HELP, Commands
from gridportal.experiments.commands import experiment_command
from gridportal.serve.commands import health_command, prepare_command, serve_command, settings_command
from gridportal.serve.demo.choices import CLASSES
from gridportal.serve.person_command import app as person_app
from gridportal.testbed.commands import app as testbed_app
from monitoring.status.commands.network import app as network_app
from monitoring.status.commands.telemetry import app as telemetry_app
from monitoring.telemetry.commands.agent import app as agent_app
from scheduling.profiles.commands.recording import app as trace_app
from scheduling.selection.commands.select import select_command
from scheduling.skeletons.commands.skeleton import app as skeleton_app
from scheduling.usage.commands.report import app as report_app

app = typer.Typer(
    name="gridportal",
    cls=Commands,
    context_settings=HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("select")(select_command)
app.add_typer(skeleton_app, name="skeleton")
app.add_typer(trace_app, name="trace")
app.add_typer(report_app, name="report")
app.add_typer(network_app, name="network")
app.add_typer(agent_app, name="agent")
app.add_typer(telemetry_app, name="telemetry")
app.add_typer(testbed_app, name="testbed")
app.command("experiment")(experiment_command)
app.command("serve")(serve_command)
app.command("prepare")(prepare_command)
app.command("health")(health_command)
app.command("settings")(settings_command)
app.add_typer(person_app, name="person")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gridportal {installed('gridportal')}")
        raise typer.Exit


@app.callback()
def everywhere(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Places MPI jobs on the right nodes of a shared cluster, watches them, and says why."""


@app.command()
def demo(
    once: Annotated[bool, typer.Option("--once", help="End after the demo job; exit 0 only if it verified.")] = False,
    port: Annotated[int, typer.Option(help="Port of the web server; the next free one if it is taken.")] = 8000,
    topology: Annotated[str, typer.Option(help="Topology of the emulated Grid: a name or a file.")] = "crossbar10",
    klass: Annotated[str, typer.Option("--class", help=f"NAS class of the demo job: {', '.join(CLASSES)}.")] = "W",
    streams: Annotated[int, typer.Option(help="Streams of other traffic on the Grid at the start; 0: none.")] = 150,
    as_json: Annotated[bool, typer.Option("--json", help="The job's story as one JSON document.")] = False,
) -> None:
    """Start the whole portal on this machine, submit one NAS CG job and show its story."""
    from gridportal.serve.demo.demo_set import Demo

    raise typer.Exit(Demo(port=port, topology=topology, klass=klass, streams=streams, once=once, as_json=as_json).run())


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Say what this machine can do, and what to do about the rest."""
    from gridportal.serve.doctor import report

    raise typer.Exit(report(as_json=as_json))


def main() -> None:
    """Run the command line. Bad input exits with 2, failure with 1, each with one sentence on standard error."""
    try:
        sys.exit(app(standalone_mode=False, prog_name="gridportal") or 0)
    except GridPortalError as error:
        typer.echo(str(error), err=True)
        sys.exit(error.exit_code)
    except TyperException as error:
        typer.echo(_usage(error), err=True)
        sys.exit(error.exit_code)
    except typer.Exit as error:
        sys.exit(error.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        typer.echo("Stopped.", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads on; the end must not complain
        sys.exit(1)
    except Exception as error:
        words = sentence(error)
        if words is None:
            raise  # a mistake of ours: its traceback is wanted
        typer.echo(words, err=True)
        sys.exit(1)


def _usage(error: TyperException) -> str:
    """What was wrong with the words, and where the right ones are."""
    context = getattr(error, "ctx", None)
    said = error.format_message().rstrip()
    if context is None:
        return said
    return f"{said if said.endswith(('.', '?', '!')) else said + '.'} See: {context.command_path} --help"
