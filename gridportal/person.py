"""`gridportal person`: the people of a portal, for whoever runs it."""

from __future__ import annotations

import json
import os
from typing import Annotated

import typer

from gridportal.errors import InputError
from gridportal.options import HELP, Commands
from gridportal.serve.database import database

app = typer.Typer(help="The people of the portal.", cls=Commands, context_settings=HELP, no_args_is_help=True)

_PASSWORD = "GRIDPORTAL_NEW_PASSWORD"  # noqa: S105 - the variable's name

Name = Annotated[str, typer.Argument(help="What the person signs in with.")]
Role = Annotated[str, typer.Option(help="user, operator, manager or administrator.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document.")]


@app.command()
def create(name: Name, role: Role = "user", as_json: AsJson = False) -> None:
    """Add a person. The password is asked for, or taken from GRIDPORTAL_NEW_PASSWORD."""
    with database():
        from gridportal.accounts.services import create_person

        person = create_person(name, role, _new_password(), actor="command line")
        _tell(as_json, f"{person.username} can sign in as {role}.", name=person.username, role=person.role)


@app.command()
def role(name: Name, role: Annotated[str, typer.Argument(help="The new role.")], as_json: AsJson = False) -> None:
    """Give a person another role."""
    with database():
        from gridportal.accounts.models import User
        from gridportal.accounts.services import set_role

        person = User.objects.filter(username=name).first()
        if person is None:
            raise InputError("name", name, "the name of a person of this portal")
        set_role(person, role, actor="command line")
        _tell(as_json, f"{name} is {role} now.", name=name, role=role)


@app.command("list")
def people(as_json: AsJson = False) -> None:
    """Everybody, with role and last sign-in."""
    with database():
        from gridportal.accounts.models import User

        rows = [
            {"name": person.username, "role": person.role, "active": person.is_active, "last_sign_in": _time(person)}
            for person in User.objects.order_by("username")
        ]
    if as_json:
        typer.echo(json.dumps({"people": rows}))
        return
    for row in rows:
        typer.echo(f"{row['name']:<24} {row['role']:<14} {row['last_sign_in'] or 'never'}")


def _time(person: object) -> str | None:
    at = getattr(person, "last_login", None)
    return at.isoformat(timespec="seconds") if at else None


def _new_password() -> str:
    """Never from the command line, where everybody on the machine could read it."""
    return os.environ.get(_PASSWORD) or str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))


def _tell(as_json: bool, words: str, **fields: str) -> None:
    typer.echo(json.dumps(fields) if as_json else words)
