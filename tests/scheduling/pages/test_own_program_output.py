"""A program of one's own has the output patterns of a registered application: in the form, in JSON and on its page."""

from __future__ import annotations

import pytest

from monitoring.clusters.models import Cluster
from scheduling.jobs.models import Application
from tests.markup import markup

pytestmark = pytest.mark.django_db
FORM = {
    "p-TOTAL_FORMS": "0",
    "p-INITIAL_FORMS": "0",
    "name": "Heat plate",
    "text": "#!/bin/bash\nmpiexec -n $SLURM_NTASKS ./solve\n",
    "kind": "batch",
    "mpi": "mpich",
    "success": "Verification *= *SUCCESSFUL",
    "failure": "ERROR|NaN",
    "seconds": "Time = (.*)",
    "seconds_unit": "s",
    "seconds_which": "last",
    "figures": "energy (eV) = Total Energy = (.*)",
}
PATTERNS = {
    "success": "Verification *= *SUCCESSFUL",
    "failure": "ERROR|NaN",
    "seconds": {"pattern": "Time = (.*)", "unit": "s"},
    "figures": [{"name": "energy", "pattern": "Total Energy = (.*)", "unit": "eV"}],
}


@pytest.fixture(autouse=True)
def isolated(db):
    return Cluster.objects.create(name="grid", facts={"isolation": "own-user"})


@pytest.fixture
def kept(client_as):
    client_as("user").post("/applications/own/new", FORM)
    return Application.objects.get(name="Heat plate")


def test_the_form_keeps_and_shows_them(client_as, kept):
    assert kept.output_patterns.document() == PATTERNS
    page = markup(client_as("user").get(f"/applications/{kept.slug}/own"))
    for shown in ("Verification *= *SUCCESSFUL", "ERROR|NaN", "Time = (.*)", "energy (eV) = Total Energy = (.*)"):
        assert shown in page


def test_a_pattern_that_cannot_be_read_is_told_beside_its_field(client_as):
    answer = client_as("user").post("/applications/own/new", FORM | {"success": "a(b"})
    assert answer.status_code == 422
    assert "success" in answer.context["form"].errors
    assert not Application.objects.filter(name="Heat plate").exists()


def test_rest_answers_and_changes_them(client_as, kept):
    client, where = client_as("user"), f"/api/own-programs/{kept.slug}"
    assert client.get(where).json()["output_patterns"] == PATTERNS
    changed = client.patch(where, {"output_patterns": {"failure": "lost"}}, content_type="application/json")
    assert changed.json()["output_patterns"] == {"failure": "lost"}
    other = client.patch(where, {"description": "kept"}, content_type="application/json")
    assert other.json()["output_patterns"] == {"failure": "lost"}
    refused = client.patch(where, {"output_patterns": {"success": "a(b"}}, content_type="application/json")
    assert refused.status_code == 400


def test_who_brings_a_program_may_try_patterns_on_a_sample(client_as):
    sent = {"success": "SUCCESSFUL", "sample": "Verification = SUCCESSFUL\n"}
    assert client_as("user").post("/applications/new/output", sent).status_code == 200
    assert client_as("manager").post("/applications/new/output", sent).status_code == 403
