"""`gridportal application`: register a program for everybody, and what speaks against one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gridportal.base import bounded_json
from gridportal.base.errors import ImpossibleError, InputError
from gridportal.base.printed_text import echo
from gridportal.base.typed_options import HELP, Commands
from gridportal.web.command_database import database

if TYPE_CHECKING:
    from scheduling.jobs.models import Application

app = typer.Typer(help="The programs of the portal.", cls=Commands, context_settings=HELP, no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="One JSON document.")]


@app.command()
def register(
    file: Annotated[Path, typer.Argument(help="JSON, as POST /api/applications takes it.")],
    change: Annotated[bool, typer.Option("--change", help="Change the one of this slug that is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Register a program for everybody, and say what speaks against it."""
    with database():
        from scheduling.jobs.models import Application
        from scheduling.jobs.services.registering import register_application

        fields = _checked(bounded_json.load(file, "file"))
        earlier = _application(fields["slug"]) if change else None
        if not change and Application.objects.filter(slug=fields["slug"]).exists():
            raise InputError("slug", fields["slug"], "a word that no other application has; --change changes that one")
        made = register_application("command line", fields, earlier)
        _tell(made, f"{made.name} is {'changed' if change else 'registered'}.", as_json)


@app.command()
def check(
    slug: Annotated[str, typer.Argument(help="The word in its address, also of a program of somebody's own.")],
    as_json: AsJson = False,
) -> None:
    """Say what speaks against a program, before it runs."""
    with database():
        application = _application(slug)
        _tell(application, f"What speaks against {application.name}:", as_json)


def _checked(document: object) -> Mapping[str, object]:
    """The fields of an application, of the right types. Raises ImpossibleError with all that is wrong."""
    from rest_framework.exceptions import ValidationError

    from gridportal.web.api_errors import valid_data
    from scheduling.pages.application_serializers import ApplicationSerializer
    from scheduling.pages.error_texts import error_texts

    try:
        return valid_data(ApplicationSerializer(data=document))
    except ValidationError as error:
        raise ImpossibleError(" ".join(error_texts(error.detail))) from error


def _application(slug: object) -> Application:
    from scheduling.jobs.models import Application

    found = Application.objects.filter(slug=str(slug)).first() if "\0" not in str(slug) else None
    if found is None:
        raise InputError("slug", slug, "the slug of an application that is registered")
    return found


def _tell(application: Application, sentence: str, as_json: bool) -> None:
    from scheduling.pages.warning_fields import warning_documents

    warnings = warning_documents(application)
    if as_json:
        echo(json.dumps({"slug": application.slug, "name": application.name, "warnings": warnings}))
        return
    echo(sentence)
    for each in warnings:
        echo(f"- {each['message']}")
