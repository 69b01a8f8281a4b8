"""`gridportal report`: the sums that reports of use are read from."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from gridportal.base.typed_options import HELP, Commands
from gridportal.web.command_database import database

app = typer.Typer(cls=Commands, context_settings=HELP, no_args_is_help=True, help="Reports of what jobs used.")


@app.callback()
def everything() -> None:
    """Reports of what jobs used."""


@app.command()
def recount(as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False) -> None:
    """Add up anew, by day, what all jobs that are over used. Reports stay right meanwhile, but are slower."""
    with database():
        from scheduling.usage.services.counting_use import recount_use

        counted = recount_use()
    typer.echo(json.dumps({"jobs": counted}) if as_json else f"Counted {counted} jobs that are over.")
