"""The commands of an administrator: serve, prepare, health, settings, doctor."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from typing import Annotated
from urllib.parse import urlsplit

import typer

from gridportal.base.errors import InputError
from gridportal.base.printed_text import echo
from gridportal.serve import parts as supervised

_PORT = 8000
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document.")]


def serve_command(
    port: Annotated[int, typer.Option(help="Port of the web server.")] = 8000,
    host: Annotated[
        str, typer.Option(help="Address of the web server; 127.0.0.1 where a proxy stands before it.")
    ] = "127.0.0.1",
    workers: Annotated[int, typer.Option(help="Processes of the web server.", envvar="WEB_CONCURRENCY")] = 2,
    grid: Annotated[str, typer.Option(help="Also an emulated Grid: a topology's name or file. Default: none.")] = "",
) -> None:
    """Start the production set on this machine: PostgreSQL, Redis, web, worker and beat."""
    from gridportal.serve.listing import read_settings
    from gridportal.serve.production import Production

    raise typer.Exit(Production(host=host, port=port, workers=workers, grid=grid, settings=read_settings()).run())


def prepare_command() -> None:
    """Bring tables, static files and the shipped programs up to date, once before the parts start."""
    from gridportal.base import home
    from gridportal.serve.prepare import prepare

    home.join()
    prepare()
    echo("Tables, static files and programs are up to date.")


def health_command(
    parts: Annotated[
        list[str] | None,
        typer.Argument(help="web, worker, beat; default: all three, and what the supervisor started besides."),
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Port of the web server; default: of the portal in GRIDPORTAL_HOME, else 8000.")
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds to wait for each answer.")] = 5.0,
    as_json: AsJson = False,
) -> None:
    """Check the parts of a running portal; exit code 1 when one is not well."""
    from gridportal.base import home
    from gridportal.serve import health
    from gridportal.web.command_database import set_up_django

    for part in parts or ():
        if part not in health.PARTS:
            raise InputError("part", part, f"one of {', '.join(health.PARTS)}")
    home.join()
    set_up_django()
    logging.getLogger("kombu").setLevel(logging.ERROR)  # of what is missing we say more ourselves
    from django.conf import settings

    up = home.running(settings.PORTAL.home)
    at = urlsplit(up.address if up and port is None else f"http://127.0.0.1:{port or _PORT}")
    host, web_port = at.hostname or "127.0.0.1", at.port or _PORT
    reported = {part.name: part for part in supervised.read(settings.PORTAL.home) or ()}
    problems = {part: health.ill(part, host=host, port=web_port, timeout=timeout) for part in parts or health.PARTS}
    if not parts:
        problems |= {
            name: part.sentence if part.is_down else None for name, part in reported.items() if name not in problems
        }
    if as_json:
        echo(json.dumps({name: _as_json(problem, reported.get(name)) for name, problem in problems.items()}))
    else:
        for name, problem in problems.items():
            echo(f"{name:<8} {problem or _well(reported.get(name))}")
        if up is None and all(problems.values()):
            where = f"No portal is up in {settings.PORTAL.home}"
            echo(f"{where}; if it was started with another GRIDPORTAL_HOME, set that here too.", err=True)
    raise typer.Exit(1 if any(problems.values()) else 0)


def _as_json(problem: str | None, part: supervised.Part | None) -> dict[str, object]:
    state = {"state": part.state, "restarts": part.restarts} if part else {}
    return {"ok": not problem, "problem": problem, **state}


def _well(part: supervised.Part | None) -> str:
    """Well, and what its supervisor has to say besides."""
    return f"well: {part.sentence}" if part and part.is_worth_telling else "well"


def settings_command(
    env: Annotated[bool, typer.Option("--env", help="The text of .env.example.")] = False,
    as_json: AsJson = False,
) -> None:
    """Every setting with its value and meaning."""
    from gridportal.serve import listing

    if env:
        echo("\n".join(listing.env_file()))
        return
    found = listing.settings()
    rows = [
        asdict(setting) | {"value": "***" if setting.secret and setting.value else setting.value} for setting in found
    ]
    if as_json:
        echo(json.dumps({"settings": rows}, indent=2))
        return
    for row in rows:
        echo(f"{row['name']}={row['value']}\n    {row['meaning']}")


def doctor_command(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Say what this machine can do, and how to get what is missing."""
    from gridportal.serve.doctor import report

    raise typer.Exit(report(as_json=as_json))
