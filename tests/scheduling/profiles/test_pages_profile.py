"""What the profile page says to somebody who has no profile yet: both ways to one."""

from __future__ import annotations

import html
import re
import shlex
from dataclasses import replace

import numpy as np
import pytest

from scheduling.profiles.core.profile import of_counters
from scheduling.profiles.services import observing, stored_profiles
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


def test_the_command_to_watch_an_open_mpi_program_names_its_launcher(application):
    application.mpi = "Open MPI 4.1"
    assert "--launcher mpirun.openmpi" in observing.command(application)
    application.mpi = "MPICH"
    assert "--launcher" not in observing.command(application)


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
    assert "Your role cannot submit jobs; users can." in page


def test_a_program_that_waits_is_said_to_on_the_page_and_in_rest(client_as, application):
    counted = of_counters("ep", np.full((2, 2), 1e6), 10.0)
    row = stored_profiles.keep(application, {}, replace(counted, source="trace", computing=10.0, waiting=9.0))
    client = client_as("user")
    assert "This program waits for 90 % of its time outside MPI" in markup(client.get("/applications/ep/profile"))
    (told,) = client.get("/api/applications/ep/profiles").json()
    assert told["warning_code"] == "program_waits"
    assert told["warning"].startswith("This program waits for 90 %")
    row.document = {name: value for name, value in row.document.items() if name != "waiting"}  # of an earlier version
    row.save()
    assert "This program waits" not in markup(client.get("/applications/ep/profile"))
    assert client.get("/api/applications/ep/profiles").json()[0]["warning_code"] == "none"
