"""The part of the registration form that says how a program is stopped and goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scheduling.jobs.models import Application
from scheduling.runs.services.scripts import script_of
from tests.markup import markup

FIELDS = {
    "name": "Melt",
    "slug": "melt",
    "command": "lmp -in in.melt -folder {checkpoints} {restart}",
    "stop_by": "own",
    "stop_seconds": "60",
    "stop_ask_by": "command",
    "stop_ask": "talk --to 'it all'",
    "stop_restart": "-r {file}",
    "stop_pattern": "melt.*.restart",
    "stop_ranks": '{"choices": [2, 4]}',
    "stop_checkpoint_by": "signal",
    "stop_checkpoint": "USR2",
    "stop_every": "900",
    "enabled": "on",
}
STORED = {
    "by": "own",
    "seconds": 60.0,
    "command": ["talk", "--to", "it all"],
    "restart": ["-r", "{file}"],
    "pattern": "melt.*.restart",
    "ranks": {"choices": [2, 4]},
    "checkpoint": {"signal": "USR2"},
    "every": 900.0,
}


def test_a_restart_of_its_own_is_registered_shown_and_changed(client_as: Callable[..., Any]) -> None:
    client = client_as("administrator")
    page = markup(client.post("/applications/new", FIELDS, follow=True))
    assert "command talk --to &#x27;it all&#x27;" in page
    assert "melt.*.restart" in page
    assert Application.objects.get(slug="melt").stop_means.document() == STORED
    initial = client.get("/applications/melt/edit").context["form"].initial
    again = {name: str(initial[name]) for name in FIELDS if name != "enabled"}
    client.post("/applications/melt/edit", {**again, "enabled": "on"})
    assert Application.objects.get(slug="melt").stop_means.document() == STORED


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"stop_ask": ""}, {"stop_ask"}),
        ({"stop_ask_by": ""}, {"stop_ask"}),
        ({"stop_ask_by": "signal", "stop_ask": "KILL"}, {"stop_ask"}),
        ({"stop_restart": "'"}, {"stop_restart"}),
        ({"stop_pattern": "../x", "stop_ranks": "{", "stop_every": "0"}, {"stop_pattern", "stop_ranks", "stop_every"}),
        ({"stop_checkpoint": "KILL"}, {"stop_checkpoint"}),
        ({"stop_seconds": "0"}, {"stop_seconds"}),
        ({"command": "lmp -in in.melt"}, {"command"}),
        ({"parameters": '[{"name": "restart", "type": "int"}]'}, {"parameters"}),
    ],
)
def test_each_error_is_beside_its_field(
    client_as: Callable[..., Any], changes: dict[str, str], fields: set[str]
) -> None:
    response = client_as("administrator").post("/applications/new", FIELDS | changes)
    assert response.status_code == 422
    assert set(response.context["form"].errors) == fields
    assert not Application.objects.filter(slug="melt").exists()


def test_placeholders_of_a_restart_are_only_for_programs_that_have_one(client_as: Callable[..., Any]) -> None:
    response = client_as("administrator").post("/applications/new", FIELDS | {"stop_by": "", "stop_seconds": ""})
    assert set(response.context["form"].errors) == {"command"}


def test_the_script_says_what_the_application_says(client_as: Callable[..., Any]) -> None:
    from scheduling.jobs.services.job_spec import JobSpec

    client_as("administrator").post("/applications/new", FIELDS)
    spec = JobSpec(Application.objects.get(slug="melt"), {}, ranks=2)
    text = script_of(spec, ["n1", "n2"], "/runs/x", "x")
    assert "lmp -in in.melt -folder /runs/x/checkpoints" in text
    assert "{restart}" not in text
    assert "talk --to 'it all'" in text
    assert "signal_ranks USR2" in text
