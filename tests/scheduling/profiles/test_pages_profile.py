"""What the profile page says to somebody who has no profile yet: both ways to one."""

from __future__ import annotations

import html
import re
import shlex

import pytest

from scheduling.profiles.services import observing
from tests.markup import markup

pytestmark = pytest.mark.django_db


def test_a_run_is_recorded_by_one_click_and_a_tick_that_is_there_already(client_as, application):
    client = client_as("user")
    page = markup(client.get("/applications/ep/profile"))
    (address,) = re.findall(r'id="record" href="([^"]+)"', page)
    form = markup(client.get(html.unescape(address)))
    (box,) = re.findall(r'<input[^>]*name="trace"[^>]*>', form)
    assert " checked" in box
    assert "<details open><summary>Requirements, candidates" in form
    assert "<details open><summary>Requirements, candidates" not in markup(client.get("/submit/?application=ep"))


def test_the_command_to_watch_the_nodes_is_shown_whole(client_as, application):
    application.parameters = [*application.parameters, {"name": "free", "label": "Free", "type": "integer"}]
    application.launcher = ["mpirun.openmpi", "-n", "{ranks}"]
    application.save()
    page = markup(client_as("manager").get("/applications/ep/profile"))
    words = shlex.split(observing.command(application))
    assert html.escape(observing.command(application)) in page
    assert words[:9] == [
        "gridportal",
        "trace",
        "monitor",
        "--nodes",
        "n1,n2,n3,n4",
        "--launcher",
        "mpirun.openmpi",
        "--keep",
        "ep",
    ]
    assert words[9:15] == ["--param", "klass=S", "--param", "seed=1", "--param", "free={free}"]
    assert words[15:] == ["--", "python", "-m", "gridportal.workloads.ep", "--class", "S", "--seed", "1", "--note", ""]
    assert 'id="record"' not in page
    assert "Your role submits no jobs" in page
