"""`gridportal skeleton`: make the short program that stands for a long one, look at it, run it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from gridportal.base import bounded_json
from gridportal.base.errors import InputError
from gridportal.base.printed_table import Column, show_table
from gridportal.base.printed_text import echo
from gridportal.base.typed_options import HELP, Commands
from scheduling.profiles.adapters import trace_library
from scheduling.skeletons.adapters import skeleton_runs
from scheduling.skeletons.core.skeleton import Skeleton, build, document, summary

app = typer.Typer(cls=Commands, context_settings=HELP, no_args_is_help=True, help="Communication skeletons.")
_Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]
_File = Annotated[Path, typer.Argument(help="A skeleton, as `skeleton build` writes it.")]
#: The skeleton's part of the application's time when nothing else is said.
SHARE = 0.05
LONGEST = 30 * 86400.0


@app.command("build")
def build_command(
    trace: Annotated[Path, typer.Argument(help="A trace, as `gridportal trace` writes it, or the folder of one.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write.")],
    seconds: Annotated[float | None, typer.Option(help="How long it is to run; default 1/20 of the program.")] = None,
    as_json: _Json = False,
) -> None:
    """Make a skeleton from a trace of `gridportal trace run`.

    It sends the same messages in the same order, fewer times.
    """
    trace_library.check_output(output)
    recorded = trace_library.load(trace)
    made = build(recorded, target=seconds if seconds is not None else max(SHARE * recorded.wall, 1e-3))
    written = document(made, rate=skeleton_runs.rate())
    trace_library.write(output, json.dumps(written, allow_nan=False).encode())
    if as_json:
        echo(json.dumps(_facts(made, written, output), allow_nan=False))
        return
    echo(
        f"{output}: {made.expected:.2f} s that stand for {recorded.wall:.2f} s of {recorded.program} on "
        f"{recorded.ranks} ranks, {len(made.scaled.runs)} of {len(made.segments)} kinds of segments."
    )
    _show(written)


@app.command()
def show(file: _File, as_json: _Json = False) -> None:
    """Show what a skeleton does, segment by segment."""
    skeleton = summary.checked(bounded_json.load(file, "skeleton", "a readable JSON file"))
    if as_json:
        echo(json.dumps(skeleton, allow_nan=False))
        return
    echo(
        f"Skeleton of {skeleton['program']} on {skeleton['ranks']} ranks: {skeleton['expected']:.2f} s "
        f"for {skeleton['application']['seconds']:.2f} s."
    )
    _show(skeleton)


@app.command()
def run(
    file: _File,
    nodes: Annotated[str, typer.Option(help="Nodes of the emulated Grid in rank order; none: this machine.")] = "",
    timeout: Annotated[float, typer.Option(help="End it after so many seconds.")] = 120.0,
    state: Annotated[Path | None, typer.Option("--state-dir", help="State directory of the Grid.")] = None,
    mpicc: Annotated[
        str, typer.Option(help="Play it in C with this compiler's MPI, the program's own; none: in Python.")
    ] = "",
    launcher: Annotated[
        str, typer.Option(help="With --mpicc: the words that start ranks, such as 'mpirun.openmpi -n {ranks}'.")
    ] = "",
    as_json: _Json = False,
) -> None:
    """Run a skeleton, and say what the application would take."""
    skeleton = summary.checked(bounded_json.load(file, "skeleton", "a readable JSON file"))
    if not 0 < timeout <= LONGEST:
        raise InputError("timeout", timeout, f"a number of seconds above 0, at most {LONGEST:.0f}")
    names = [name.strip() for name in nodes.split(",") if name.strip()]
    if names and len(names) != skeleton["ranks"]:
        raise InputError("nodes", nodes, f"{skeleton['ranks']} nodes, one for each rank of the skeleton")
    player = _player(mpicc, launcher)
    if names:
        result = skeleton_runs.on_grid(file.resolve(), names, state, timeout, player)
    else:
        result = skeleton_runs.here(file.resolve(), skeleton["ranks"], timeout, player)
    if as_json:
        echo(json.dumps(result, allow_nan=False))
        return
    echo(
        f"{result['seconds']:.2f} s; {skeleton['program']} would take {result['predicted']:.2f} s here "
        f"({skeleton['application']['seconds']:.2f} s where it was traced)."
    )


def _player(mpicc: str, launcher: str) -> skeleton_runs.Player | None:
    """Who plays it in C, if anybody."""
    if launcher and not mpicc:
        raise InputError("launcher", launcher, "nothing without --mpicc, for Python plays with the portal's own MPI")
    try:
        words = tuple(shlex.split(launcher))
    except ValueError as error:
        raise InputError("launcher", launcher, f"words as a shell would read them ({error})") from error
    if not mpicc:
        return None
    return skeleton_runs.Player(mpicc, words) if words else skeleton_runs.Player(mpicc)


def _facts(made: Skeleton, written: dict[str, Any], output: Path) -> dict[str, Any]:
    return {
        "file": str(output),
        "program": made.program,
        "ranks": made.ranks,
        "seconds": written["expected"],
        "application_seconds": made.seconds,
        "segments": len(written["segments"]),
        "segments_of_application": len(made.segments),
    }


def _show(found: Any) -> None:
    heads = ("Times in program", "Runs here", "Size", "Bytes a run", "Work, s")
    rows = [
        (
            f"{row.times:,}",
            f"{row.runs:,}",
            f"{100 * row.part:.0f} %",
            f"{row.bytes:,}",
            f"{row.work:.4f}",
            ", ".join(f"{count} {name}" for name, count in sorted(row.calls.items())),
        )
        for row in summary.rows(found)
    ]
    columns = [Column(head, number=True) for head in heads]
    show_table([*columns, Column("Calls of all ranks", wraps=True)], rows)
