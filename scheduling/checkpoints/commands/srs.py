"""`gridportal srs build`: the library of SRS for programs in C and Fortran."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gridportal.base.printed_text import echo
from gridportal.base.typed_options import HELP, Commands
from gridportal.runtime.srs.library import building

app = typer.Typer(
    cls=Commands, context_settings=HELP, no_args_is_help=True, help="Stop and restart, for programs in C and Fortran."
)


@app.callback()
def group() -> None:
    """Stop and restart, for programs in C and Fortran."""


@app.command()
def build(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder for header and library.")],
    mpicc: Annotated[str, typer.Option(help="The MPI compiler of the programs.")] = "mpicc",
    mpifort: Annotated[
        str | None, typer.Option(help="Its compiler of Fortran; else the one beside mpicc, where there is one.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Build header, library and module with the compilers of an MPI, and say how programs are linked with them."""
    files = building.build(mpicc, output, mpifort)
    if as_json:
        echo(json.dumps({"files": [str(path) for path in files], "flags": building.link_flags(output)}))
        return
    echo("\n".join(map(str, files)))
    echo(f"Compile and link programs with: {mpicc} program.c {building.link_flags(output)}")
