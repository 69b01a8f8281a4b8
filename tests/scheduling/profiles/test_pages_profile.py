"""What the profile page says to somebody who has no profile yet: both ways to one."""

from __future__ import annotations

import html
import re
import shlex
from dataclasses import replace

import numpy as np
import pytest

from monitoring.clusters.models import Cluster, Node
from scheduling.profiles.core.profile import of_counters
from scheduling.profiles.services import observing, stored_profiles
from tests.markup import markup
from tests.scheduling.profiles.core.test_profile import threaded
from tests.scheduling.profiles.test_profiles import line_profile

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
        "NODE,NODE,NODE,NODE",
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


def test_the_command_to_watch_names_the_nodes_and_parameters_of_the_newest_run(client_as, make_job, people):
    job = make_job(people["user"], "succeeded", parameters={"klass": "W", "seed": 5, "note": ""})
    placement = job.runs.get().placement
    placement.nodes = ["m7", "m3"]
    placement.save()
    page = markup(client_as("user").get("/applications/ep/profile"))
    assert "--nodes m7,m3 " in page
    assert "--param klass=W --param seed=5" in page


def test_the_phases_of_a_program_with_threads_are_said_to_be_of_its_main_one(client_as, application):
    said, of_main = "Loops of rank 0's top level", "Loops of the top level of rank 0's main thread"
    for threads in ((), (1, 20)):
        stored_profiles.keep(application, {}, threaded(*threads))
        page = html.unescape(markup(client_as("manager").get("/applications/ep/profile")))
        assert (said in page, of_main in page) == (not threads, bool(threads))
        assert ("Computation to MPI" in page) == (not threads)


def ran_on(job, *nodes):
    """The newest run of a job, on these nodes, rank by rank."""
    run = job.runs.get()
    run.placement.nodes = list(nodes)
    run.placement.save()
    return run


def test_the_command_to_watch_names_each_node_once_where_ranks_share_them(client_as, make_job, people, application):
    run = ran_on(make_job(people["user"], "succeeded"), "m7", "m7", "m3", "m3")
    page = markup(client_as("user").get("/applications/ep/profile"))
    assert "--nodes m7,m3 " in page
    assert "one rank on each node" in page
    application.ranks = {"choices": [4]}
    assert observing.command(application, run) == ""


def test_one_node_for_all_ranks_tells_nothing_but_another_run_may(client_as, make_job, people):
    older = make_job(people["user"], "succeeded")
    ran_on(older, "m7", "m7")
    ran_on(make_job(people["user"], "succeeded"), "m7", "m7")
    page = markup(client_as("user").get("/applications/ep/profile"))
    assert 'id="monitor-command"' not in page
    assert "There is no command yet: the ranks of its runs shared nodes" in page
    ran_on(older, "m7", "m3")
    page = markup(client_as("user").get("/applications/ep/profile"))
    assert "--nodes m7,m3 " in page
    assert "shared nodes" not in page


def test_without_a_run_it_names_nodes_that_the_grid_has(application):
    cluster = Cluster.objects.get_or_create(name="grid")[0]
    for place, name in enumerate(("m3", "m7", "m1", "m2", "m9")):
        Node.objects.create(cluster=cluster, name=name, kind="compute", position=place)
    words = shlex.split(observing.command(application))
    assert words[words.index("--nodes") + 1] == "m3,m7,m1,m2"


def test_only_profiles_that_a_next_job_would_take_are_said_to_be_taken(client_as, application):
    for klass, ranks in (("S", 4), ("W", 4), ("S", 4), ("S", 2)):
        stored_profiles.keep(application, {"klass": klass}, line_profile(ranks))
    cells = taken_by(client_as)
    assert cells == [
        "✓ taken by jobs on 2 ranks with these parameters, and with those that have no profile",
        "✓ taken by jobs on 4 ranks with these parameters, and with those that have no profile",
        "✓ taken by jobs on 4 ranks with these parameters",
        "no job takes it: newer ones are there",
    ]
    application.command = [*application.command, "--other"]
    application.save()
    assert taken_by(client_as) == ["stale: no job takes it"] * 4


def taken_by(client_as):
    """The last column of all profiles."""
    page = markup(client_as("manager").get("/applications/ep/profile"))
    (table,) = re.findall(r'aria-label="All profiles".*?</table>', page, re.DOTALL)
    rows = re.findall(r"<tr>(.*?)</tr>", table.partition("<tbody>")[2], re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", "", row.rpartition("<td>")[2]).split()) for row in rows]


def test_two_ranks_are_called_a_pair_also_where_an_earlier_version_kept_another_name(client_as, application):
    row = stored_profiles.keep(application, {}, line_profile(2))
    assert row.pattern == "pairs"
    row.pattern = "ring"
    row.save()
    page = markup(client_as("manager").get("/applications/ep/profile"))
    assert "<dd>pairs</dd>" in page
    assert "<td>pairs</td>" in page
