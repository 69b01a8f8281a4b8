"""`gridportal person`: the people of a portal, for whoever runs it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gridportal.base.errors import InputError
from gridportal.base.printed_table import Column, show_table
from gridportal.base.printed_text import echo
from gridportal.base.typed_options import HELP, Commands
from gridportal.web.command_database import database

if TYPE_CHECKING:
    from gridportal.accounts.models import ApiToken, User

app = typer.Typer(help="The people of the portal.", cls=Commands, context_settings=HELP, no_args_is_help=True)

_PASSWORD = "GRIDPORTAL_NEW_PASSWORD"  # noqa: S105 - the variable's name

Name = Annotated[str, typer.Argument(help="What the person signs in with.")]
Role = Annotated[str, typer.Option(help="user, operator, manager or administrator.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document.")]


@app.command()
def create(name: Name, role: Role = "user", as_json: AsJson = False) -> None:
    """Add a person. The password is asked for, or taken from GRIDPORTAL_NEW_PASSWORD."""
    with database():
        from gridportal.accounts.people import check_new, create_person

        check_new(name, role)
        person = create_person(name, role, _new_password(), actor="command line")
        _tell(as_json, f"{person.username} can sign in as {role}.", name=person.username, role=person.role)


@app.command()
def role(name: Name, role: Annotated[str, typer.Argument(help="The new role.")], as_json: AsJson = False) -> None:
    """Give a person another role."""
    with database():
        from gridportal.accounts.services import set_role

        set_role(_person(name), role, actor="command line")
        _tell(as_json, f"{name} is {role} now.", name=name, role=role)


@app.command()
def token(
    name: Name,
    label: Annotated[
        str | None,
        typer.Option("--name", help="What the token is for. Default: command line, the next one: command line 2."),
    ] = None,
    expires: Annotated[
        int | None,
        typer.Option(
            help="Days until it expires, at most GRIDPORTAL_TOKEN_DAYS (365 unless set). 0: never, which is accepted "
            "only where GRIDPORTAL_TOKEN_DAYS is 0. Default: 90, or what that permits."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make an API token and print it once: only a hash of it is kept. When it expires is printed on stderr."""
    with database():
        from gridportal.accounts.services import create_token
        from gridportal.accounts.tokens import accepted_days, usual_days

        person, days = _person(name), usual_days() if expires is None else expires
        label = _unused_label(person) if label is None else label
        try:
            made, text = create_token(person, label, days or None, actor="command line")
        except InputError as error:
            if error.field == "days":
                raise InputError("expires", expires, f"{accepted_days('0')} (GRIDPORTAL_TOKEN_DAYS)") from error
            raise InputError("label", label, error.accepted) from error
        _tell(as_json, text, token=text, **_about(made))
        end = f"It expires at {_minute(_time(made.expires_at))} UTC." if made.expires_at else "It does not expire."
        echo(f"A token of {name} for {made.name}. {end} It is not shown again.", err=True)


def _unused_label(person: User) -> str:
    """What a token is for of which nobody said it: another name each time."""
    taken = set(person.tokens.values_list("name", flat=True))
    names = ["command line", *(f"command line {number}" for number in range(2, len(taken) + 2))]
    return next(name for name in names if name not in taken)


@app.command()
def tokens(name: Name, as_json: AsJson = False) -> None:
    """A person's API tokens: made, last used, expires. Their text is not kept."""
    with database():
        rows = [_about(made) for made in _person(name).tokens.all()]
    if as_json:
        echo(json.dumps({"tokens": rows}))
        return
    heads = ("Begins with", "For", "Made, UTC", "Last used, UTC", "Expires, UTC")
    timestamps = [tuple(_minute(row[key]) for key in ("made", "last_used", "expires")) for row in rows]
    cells = [(str(row["begins_with"]), str(row["name"]), *when) for row, when in zip(rows, timestamps, strict=True)]
    if rows:
        show_table([Column(head, wraps=head == "For") for head in heads], cells)
    else:
        echo(f"{name} has no tokens.")


@app.command()
def revoke(
    name: Name,
    token: Annotated[
        str, typer.Argument(help="The token's name or how it begins, as `person tokens` shows them.")
    ] = "",
    every: Annotated[bool, typer.Option("--all", help="All tokens of this person.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make an API token useless at once."""
    with database():
        from gridportal.accounts.services import revoke_tokens

        mine = _person(name).tokens.all()
        wanted = [made for made in mine if every or token in (made.name, made.prefix)]
        if not wanted and not every:
            names = ", ".join(made.name for made in mine) or "nothing: there is none"
            raise InputError("token", token, f"the name or beginning of one of {name}'s tokens: {names}")
        count = revoke_tokens("command line", wanted)
        _tell(as_json, f"Revoked {count} of {name}'s tokens.", name=name, revoked=count)


@app.command()
def password(
    name: Name,
    keep_tokens: Annotated[bool, typer.Option("--keep-tokens", help="API tokens are not revoked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Set a new password, asked for or taken from GRIDPORTAL_NEW_PASSWORD. Sessions end, API tokens are revoked."""
    with database():
        from gridportal.accounts.services import set_password

        count = set_password(_person(name), _new_password(), keep_tokens=keep_tokens, actor="command line")
        message = f"{name} has a new password; sessions have ended, and {count} API tokens are revoked."
        _tell(as_json, message, name=name, revoked=count)


@app.command("factor")
def second_factor(
    name: Name,
    remove: Annotated[bool, typer.Option("--remove", help="Take it away; sessions end, API tokens stay.")] = False,
    as_json: AsJson = False,
) -> None:
    """Whether a person has a second factor, or take it away from somebody who has lost it."""
    with database():
        from gridportal.accounts import managing, second_factors

        person = _person(name)
        removed = remove and managing.reset_second_factor("command line", person)
        is_set_up = second_factors.is_set_up(person)
        message = f"{name} has {'a' if is_set_up else 'no'} second factor{' any more' if removed else ''}."
        _tell(as_json, message, name=name, second_factor=is_set_up, removed=removed)


@app.command()
def off(name: Name, as_json: AsJson = False) -> None:
    """Switch a person's account off: sessions end and API tokens are revoked at once. The history stays."""
    _switch(name, False, f"{name} is switched off.", as_json)


@app.command()
def on(name: Name, as_json: AsJson = False) -> None:
    """Let a person sign in again. Old sessions and tokens stay ended."""
    _switch(name, True, f"{name} can sign in again.", as_json)


@app.command("list")
def people(
    logs: Annotated[bool, typer.Option("--logs", help="Names from logs that were read, too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Everybody by name, with role and last sign-in; who is switched off stands behind the others."""
    with database():
        from gridportal.accounts import selectors

        rows: list[Mapping[str, Any]] = [
            {
                "name": person.username,
                "role": person.role,
                "active": person.is_active,
                "last_sign_in": _time(person.last_login),
            }
            for person in selectors.people(with_logs=logs)
        ]
    if as_json:
        echo(json.dumps({"people": rows}))
        return
    cells = [(row["name"], row["role"], _may(row), _minute(row["last_sign_in"])) for row in rows]
    show_table([Column("Name"), Column("Role"), Column("May sign in"), Column("Last sign-in, UTC")], cells)


def _may(row: Mapping[str, Any]) -> str:
    return "yes" if row["active"] else "no, switched off"


def _person(name: str) -> User:
    from gridportal.accounts.models import User

    person = User.objects.filter(username=name).first()
    if person is None:
        raise InputError("name", name, "the name of a person of this portal")
    return person


def _switch(name: str, is_on: bool, message: str, as_json: bool) -> None:
    with database():
        from gridportal.accounts.services import switch

        switch(_person(name), is_on, actor="command line")
        _tell(as_json, message, name=name, active=is_on)


def _about(token: ApiToken) -> dict[str, str | None]:
    times = {"made": token.created_at, "last_used": token.last_used_at, "expires": token.expires_at}
    return {"name": token.name, "begins_with": token.prefix} | {key: _time(at) for key, at in times.items()}


def _minute(time: str | None) -> str:
    return time[:16].replace("T", " ") if time else "never"


def _time(at: datetime | None) -> str | None:
    return at.isoformat(timespec="seconds") if at else None


def _new_password() -> str:
    """Never from the command line, where everybody on the machine could read it."""
    return os.environ.get(_PASSWORD) or str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))


def _tell(as_json: bool, message: str, **fields: object) -> None:
    echo(json.dumps(fields) if as_json else message)
