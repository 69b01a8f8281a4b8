"""`gridportal report`: the sums that reports of use are read from."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from gridportal.base.printed_text import echo
from gridportal.base.typed_options import HELP, Commands
from gridportal.web.command_database import database

app = typer.Typer(cls=Commands, context_settings=HELP, no_args_is_help=True, help="Reports of what jobs used.")


@app.callback()
def everything() -> None:
    """Reports of what jobs used."""


@app.command()
def recount(as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False) -> None:
    """Count again, by day, what jobs used that ended over ten minutes ago. Reports stay right meanwhile, but slower."""
    with database():
        from scheduling.usage.services.counting_use import SETTLED, recount_use

        counted = recount_use()
    minutes = int(SETTLED.total_seconds() // 60)
    message = (
        f"Counted {counted} jobs. Reports read those of the last {minutes} minutes and those under way one by one."
    )
    echo(json.dumps({"jobs": counted}) if as_json else message)
