"""An experiment is one folder: added to the package, it is on the pages, in the API, the CSV, the command and the help.

The folder (`folders/tiny`) is added to the package's path, as if it lay among the others; nothing else names it.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import override_settings

import gridportal.experiments as package
from gridportal.experiments import registry, tasks
from gridportal.experiments.models import Experiment
from gridportal.experiments.services import tending
from tests.markup import markup

FOLDERS = Path(__file__).parent / "folders"
KEYS = ["short/0", "long/0", "short/1", "long/1"]


@pytest.fixture
def portal(tmp_path, settings, monkeypatch):
    """A portal with a home of its own and the tiny experiment."""
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(FOLDERS)])
    monkeypatch.setattr(tasks.tend_experiments, "delay_on_commit", lambda: None)
    scan = registry.experiments
    scan.cache_clear()
    with override_settings(PORTAL=settings.PORTAL.model_copy(update={"home": tmp_path})):
        yield tmp_path
    scan.cache_clear()
    sys.modules.pop("gridportal.experiments.tiny", None)
    vars(package).pop("tiny", None)


def command(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The real command line in a process of its own."""
    program = (
        f"import gridportal.experiments as package; package.__path__.append({str(FOLDERS)!r});"
        f"import sys; sys.argv = ['gridportal', 'experiment', *{list(words)!r}];"
        "from gridportal.cli import main; main()"
    )
    env = {**os.environ, "GRIDPORTAL_HOME": str(home), "COLUMNS": "200"}
    return subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A home in which a tiny experiment was run from the command line."""
    home = tmp_path_factory.mktemp("ran")
    done = command(home, "tiny", "--json")
    assert done.returncode == 0, done.stderr
    return home


@pytest.fixture
def row(portal, ran, db):
    """The same as the portal has found it."""
    shutil.copytree(ran, portal, dirs_exist_ok=True)
    tending.tend()
    return Experiment.objects.get()


def test_the_command_runs_it_shows_its_table_and_lists_it_in_its_help(tmp_path):
    done, told = command(tmp_path, "tiny"), command(tmp_path, "--help")

    assert done.returncode == 0, done.stderr
    assert "How much longer a sleep lasts" in done.stdout
    assert "4 sleeps were at least as long" in done.stdout
    assert "1.05" in done.stdout
    assert "tiny (a moment)" in told.stdout


def test_the_command_prints_its_result_with_the_papers_figures(tmp_path):
    result = json.loads(command(tmp_path, "tiny", "--json").stdout)

    assert list(result["ratios"]) == KEYS
    assert (result["paper"], result["complete"], result["failed"]) == ({"ratio": 1.05}, True, {})
    assert (tmp_path / "experiments" / "tiny-1" / "result.json").exists()


def test_the_portal_finds_what_ran_and_its_page_shows_all_of_it(row, client_as):
    assert (row.name, row.state, row.done, row.of) == ("tiny", "done", 4, 4)
    page = markup(client_as("user").get(row.get_absolute_url()))

    assert "Sleep 2026: how long a sleep really lasts." in page
    assert "4 sleeps were at least as long" in page
    assert 'data-chart="experiment-figure"' in page
    assert "as a multiple of what was asked" in page
    assert "<dt>short</dt>" in page
    assert "How much longer a sleep lasts" in page
    assert "Slept, s" in page
    assert all(f">{key}<" in page for key in KEYS)


def test_the_list_the_form_and_the_help_name_it(row, client_as):
    client = client_as("operator")
    listed, helped = (markup(client.get(address)) for address in ("/experiments/", "/help/"))

    assert "tiny, seed 1" in listed
    assert '<option value="tiny">' in listed
    assert "It takes a moment on two cores." in listed
    assert "how long a sleep really lasts (<em>tiny</em>)" in helped
    assert client.get("/experiments/tiny/")["Location"] == row.get_absolute_url()


def test_the_csv_has_its_own_column_after_the_common_ones(row, client_as):
    client = client_as("user")
    page, api = (
        client.get(f"{address}/trials.csv") for address in (f"/experiments/{row.pk}", f"/api/experiments/{row.pk}")
    )
    lines = list(csv.DictReader(io.StringIO(page.content.decode())))

    assert [line["trial"] for line in lines] == KEYS
    assert list(lines[0])[-1] == "slept"
    assert all(float(line["slept"]) >= 0.001 for line in lines)
    assert api.content == page.content


def test_the_api_shows_it_and_starts_another(row, client_as):
    client = client_as("operator")
    one = client.get(f"/api/experiments/{row.pk}").json()
    started = client.post("/api/experiments", {"name": "tiny", "seed": 2}, content_type="application/json")

    assert one["finding"].startswith("4 sleeps")
    assert one["result"]["paper"] == {"ratio": 1.05}
    assert started.status_code == 201
    assert "tiny" in json.dumps(client.get("/api/schema", HTTP_ACCEPT="application/json").json())


def test_the_form_starts_another(row, client_as):
    answer = client_as("operator").post("/experiments/start", {"name": "tiny", "seed": "3", "full": "on"})

    assert answer.status_code == 302
    started = Experiment.objects.get(seed=3)
    assert (started.name, started.full, started.of) == ("tiny", True, 10)


def test_a_row_whose_experiment_was_taken_out_is_still_shown(row, client_as, monkeypatch):
    monkeypatch.setattr(registry, "experiments", lambda: ())
    client = client_as("user")

    assert "was taken out of the portal" in markup(client.get(row.get_absolute_url()))
    assert "tiny, seed 1" in markup(client.get("/experiments/"))
    assert client.get(f"/api/experiments/{row.pk}").json()["finding"] == ""
    assert client.get(f"/experiments/{row.pk}/trials.csv").content.decode().startswith("trial,at,nodes,")
