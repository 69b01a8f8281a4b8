"""Bringing a program in the browser and over REST, and who else sees it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from monitoring.clusters.models import Cluster
from scheduling.jobs.models import Application, Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.jobs.services.own_programs import ProgramRequest, save_program
from scheduling.messages import message
from scheduling.placing.services import rounds
from scheduling.placing.services.submission import submit_job
from tests.markup import markup
from tests.sent_forms import filled_form

pytestmark = pytest.mark.django_db
SCRIPT = "#!/bin/bash\n#SBATCH -N 2 --ntasks=4 --time=10 --mail-type=END\nmpiexec -n $SLURM_NTASKS ./solve $1\n"
ROWS = {"p-TOTAL_FORMS": "2", "p-INITIAL_FORMS": "0", "p-1-name": ""}
FORM = {
    **ROWS,
    "name": "Heat plate",
    "text": SCRIPT,
    "kind": "batch",
    "mpi": "mpich",
    "arguments": "{size}",
    "p-0-name": "size",
    "p-0-type": "int",
    "p-0-default": "10",
    "p-0-min": "1",
}


@pytest.fixture
def isolated(db):
    return Cluster.objects.create(name="grid", facts={"isolation": "own-user"})


@pytest.fixture
def program(people):
    return save_program(people["user"], ProgramRequest("Secret heat", kind="batch", content=SCRIPT.encode()))


def test_a_pasted_batch_script_fills_the_form_to_submit_it(client_as, isolated):
    client = client_as("user")
    answer = client.post("/applications/own/new", FORM, follow=True)
    page = markup(answer)
    application = Application.objects.get(name="Heat plate")
    assert answer.redirect_chain[-1][0] == f"/submit/?application={application.slug}"
    assert "--mail-type=END" in page
    initial = answer.context["form"].initial
    assert (initial["ranks"], initial["node_count"], initial["time_limit"]) == (4, 2, 600)
    assert application.parameters == [{"name": "size", "type": "int", "default": "10", "min": 1.0}]


def test_jobs_and_gres_of_a_batch_script_fill_the_form(client_as, people, isolated, make_job):
    mine, others = make_job(owner=people["user"]), make_job(owner=people["other"])
    lines = f"#SBATCH -n 4 -N 2 --gres=gpu:2\n#SBATCH -d afterok:{mine.pk},after:{mine.pk}:{others.pk}\n"
    form = FORM | {"text": f"#!/bin/bash\n{lines}#SBATCH --mail-type=END --nodes=2-4 -p long\nhostname\n"}
    answer = client_as("user").post("/applications/own/new", form, follow=True)
    initial = answer.context["form"].initial
    assert (initial["after"], initial["after_ok"], initial["gres_per_rank"]) == ((mine.pk,), (mine.pk,), "gpu:1")
    said = [str(each) for each in answer.context["messages"]]
    for sentence in (
        "--mail-type=END: the form has no field for it.",
        "--nodes=2-4 cannot be read; accepted is one whole number from 1 to 1000000.",
        "--partition=long: no cluster of this portal has such a choice.",
        f"--dependency: you can see no job {others.pk} of this portal; enter the job’s number here, not that of Slurm.",
        f"--dependency=after:{mine.pk}: the portal waits until job {mine.pk} has ended, not only until it begins.",
    ):
        assert sentence in said


def test_gres_that_ranks_cannot_share_is_told(client_as, isolated):
    form = FORM | {"text": "#!/bin/bash\n#SBATCH -n 4 -N 2 --gres=gpu:1\n#SBATCH\t-t 5\nhostname\n"}
    answer = client_as("user").post("/applications/own/new", form, follow=True)
    assert "gres_per_rank" not in answer.context["form"].initial
    assert answer.context["form"].initial["time_limit"] == 300
    assert "cannot be shared out evenly among 2 ranks" in markup(answer)


def test_the_form_shows_what_each_way_to_start_looks_like(client_as):
    page = markup(client_as("user").get("/applications/own/new"))
    for line in ("mpiexec -n 4 program", "mpiexec -n 4 python3 -m mpi4py program", "bash program"):
        assert f"<code>{line} ARGUMENTS</code>" in page


def test_a_program_without_a_pattern_is_balanced_over_rest(client_as, program, isolated):
    sent = {"application": program.slug, "ranks": 1}
    answer = client_as("user").post("/api/jobs", sent, content_type="application/json")
    assert answer.json().get("method") == "balanced", answer.content
    wants_pattern = sent | {"method": "pattern"}
    refused = client_as("user").post("/api/jobs", wants_pattern, content_type="application/json")
    assert refused.status_code == 400


def test_all_that_is_wrong_stands_beside_its_field(client_as, people):
    wrong = FORM | {"name": "", "text": "", "arguments": "{other}", "environment": "PATH=/x", "p-0-min": "much"}
    answer = client_as("user").post("/applications/own/new", wrong)
    assert answer.status_code == 422
    errors = answer.context["form"].errors
    assert {"name", "upload", "path"} & errors.keys() >= {"name"}
    assert {"environment", "arguments"} <= errors.keys()
    assert answer.context["rows"].errors[0].keys() == {"min"}
    assert not Application.objects.exists()


def test_an_upload_is_kept_byte_by_byte(client_as):
    binary = bytes(range(256))
    form = FORM | {"text": "", "kind": "mpi", "upload": SimpleUploadedFile("../../<b>a.out", binary)}
    client = client_as("user")
    assert client.post("/applications/own/new", form).status_code == 302
    application = Application.objects.get()
    assert application.program.file_name == "<b>a.out"
    download = client.get(f"/applications/{application.slug}/program")
    assert download.content == binary
    assert download["Content-Disposition"] == f'attachment; filename="{application.slug}"'
    assert "<b>a.out" not in markup(client.get(application.get_absolute_url()))


def test_the_form_of_one_that_is_there_keeps_it(client_as, program):
    client, address = client_as("user"), f"/applications/{program.slug}/own"
    assert "mpiexec -n $SLURM_NTASKS" in markup(client.get(address))
    upload = FORM | {"text": SCRIPT.replace("\n", "\r\n"), "upload": SimpleUploadedFile("b.sh", b"hostname\n")}
    assert client.post(address, upload).status_code == 302
    program.program.refresh_from_db()
    assert bytes(program.program.content) == b"hostname\n"


def test_json_is_the_other_view_of_the_same(client_as, program):
    client, address = client_as("user"), f"/applications/{program.slug}/own"
    shown = client.get(f"{address}?as=json").context["document"]
    document = json.loads(shown) | {"name": "Cold plate", "arguments": ["a b"]}
    assert client.post(address, {"as": "json", "document": json.dumps(document)}).status_code == 302
    program.refresh_from_db()
    assert (program.name, program.command) == ("Cold plate", ["bash", "{run_dir}/program", "a b"])
    wrong = json.dumps(document | {"mpi": "mine", "nonsense": 1})
    refused = client.post(address, {"as": "json", "document": wrong})
    assert refused.status_code == 422
    assert "nonsense is not known here" in markup(refused)


@pytest.mark.parametrize("role", ["other", "anonymous"])
def test_nobody_else_sees_it_anywhere(client_as, program, role):
    client = client_as(role)
    for address in (
        "/applications/",
        f"/applications/{program.slug}/",
        f"/applications/{program.slug}/profile",
        f"/applications/{program.slug}/program",
        f"/submit/?application={program.slug}",
        "/submit/",
        "/jobs/",
        "/reports/skeletons/",
        "/jobs.csv",
        "/api/applications",
        f"/api/applications/{program.slug}",
        f"/api/applications/{program.slug}/profiles",
        f"/api/applications/{program.slug}/skeletons",
        "/api/own-programs",
        f"/api/own-programs/{program.slug}",
    ):
        answer = client.get(address)
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        assert b"Secret heat" not in body, address


def test_nobody_else_submits_it(client_as, isolated, program, people):
    sent = {"application": program.slug, "node_count": 2, "method": "balanced"}
    for address in ("/api/jobs", "/api/preview"):
        refused = client_as("other").post(address, sent, content_type="application/json")
        assert refused.status_code == 400, address
        assert "application" in refused.json()
    assert client_as("user").post("/api/jobs", sent, content_type="application/json").status_code == 201


def test_nobody_else_submits_a_job_of_it_again(client_as, isolated, program, make_job, people):
    job = make_job(people["user"], "succeeded", application=program, parameters={})
    client = client_as("operator")
    assert client.get(f"/jobs/{job.pk}/").status_code == 200
    refused = client.post(f"/api/jobs/{job.pk}/resubmit", {}, content_type="application/json")
    assert (refused.status_code, Job.objects.count()) == (400, 1)


def test_sharing_lets_a_person_submit_but_not_change_it(client_as, isolated, program, people):
    shared = client_as("user").post(f"/applications/{program.slug}/share", {"with": "other"}, follow=True)
    assert f'<a href="/applications/{program.slug}/">Secret heat</a> is shared with other.' in markup(shared)
    client = client_as("other")
    assert "Submit Secret heat" in markup(client.get(f"/submit/?application={program.slug}"))
    assert client.get(f"/applications/{program.slug}/own").status_code == 404
    client_as("user").post(f"/applications/{program.slug}/share", {"stop": str(program.shares.get().pk)})
    assert client.get(f"/applications/{program.slug}/").status_code == 404


def test_an_administrator_publishes_what_is_offered(client_as, program):
    client_as("user").post(f"/applications/{program.slug}/offer")
    client, address = client_as("administrator"), f"/applications/{program.slug}/"
    program.refresh_from_db()
    assert "Publish" in markup(client.get(address))
    assert client.post(f"{address}publish", {"offered_at": program.offered_at.isoformat()}).status_code == 302
    assert "Secret heat" in markup(client_as("other").get("/applications/"))
    assert client_as("user").get(f"{address}own").status_code == 404


def test_the_page_says_where_and_why_it_does_not_run(client_as, program):
    Cluster.objects.create(name="grid", facts={"isolation": "own-view"})
    page = markup(client_as("user").get("/applications/own/new"))
    assert "Programs of users do not run on grid: jobs run there as the portal’s user" in page
    tested = client_as("user").post(f"/applications/{program.slug}/test", follow=True)
    assert "The test run was not submitted" in markup(tested)
    assert not Job.objects.exists()


def test_rest_brings_shares_and_removes(client_as, people):
    client, json_type = client_as("user"), {"content_type": "application/json"}
    made = client.post("/api/own-programs", {"name": "Ring", "path": "/shared/ring", "mpi": "openmpi"}, **json_type)
    assert made.status_code == 201
    address = f"/api/own-programs/{made.json()['slug']}"
    assert client.post(f"{address}/share", {"whom": "other"}, **json_type).json()["shared_with"] == ["other"]
    changed = client.patch(address, {"content": "#!/bin/sh\n"}, **json_type).json()
    assert (changed["content"], "path" in changed) == ("#!/bin/sh\n", False)
    refused = client.post("/api/own-programs", {"name": "Ring", "path": "ring", "modules": ["-"]}, **json_type)
    assert refused.status_code == 400
    assert {"path", "modules"} <= refused.json().keys()
    assert client.delete(address).status_code == 204
    assert client.get("/api/own-programs").json()["count"] == 0


def test_a_name_that_is_there_is_refused_beside_its_field_and_over_rest(client_as, program):
    client, json_type = client_as("user"), {"content_type": "application/json"}
    answer = client.post("/applications/own/new", FORM | {"name": "secret heat"})
    assert answer.status_code == 422
    assert "Enter a name that no other program has which you may submit." in answer.context["form"].errors["name"][0]
    refused = client.post("/api/own-programs", {"name": "SECRET HEAT", "path": "/shared/ring"}, **json_type)
    assert (refused.status_code, list(refused.json())) == (400, ["name"])
    made = client_as("other").post("/api/own-programs", {"name": "Secret heat", "path": "/shared/ring"}, **json_type)
    assert made.status_code == 201  # who does not see the other one is not told of it


def test_the_uploaded_program_lies_executable_in_the_run_directory(fake_grid, people, program, settings):
    settings.PORTAL = settings.PORTAL.model_copy(update={"own_programs": "always"})
    job = submit_job(people["user"], JobSpec(program, node_count=2, method="balanced"))
    rounds.place_and_start_all(job.cluster)
    run = job.runs.get()
    uploaded = Path(run.run_dir, "program")
    assert uploaded.read_bytes() == SCRIPT.encode()
    assert uploaded.stat().st_mode & 0o777 == 0o755
    assert f"HYDRA_HOST_FILE={run.run_dir}/hosts" in run.script
    assert f"bash {uploaded}" in run.script


def test_one_that_was_submitted_does_not_start_where_it_may_not_run_any_more(fake_grid, people, program, settings):
    settings.PORTAL = settings.PORTAL.model_copy(update={"own_programs": "always"})
    job = submit_job(people["user"], JobSpec(program, node_count=2, method="balanced"))
    settings.PORTAL = settings.PORTAL.model_copy(update={"own_programs": "never"})
    rounds.place_and_start_all(job.cluster)
    job.refresh_from_db()
    assert (job.state, fake_grid.submitted) == ("failed", [])
    assert "switched off" in message(job.reason)


@pytest.mark.parametrize(
    "moment", ["", "2026-13-45T00:00:00Z", "2026-01-01T00:00:00", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00+12:00"]
)
def test_publishing_needs_the_moment_of_an_offer(client_as, program, moment):
    answer = client_as("administrator").post(f"/applications/{program.slug}/publish", {"offered_at": moment})
    assert answer.status_code == 403
    assert Application.objects.get(pk=program.pk).owner_id


def test_who_changes_what_was_published_meanwhile_is_told(client_as, people, program, monkeypatch):
    client = client_as("user")
    Application.objects.filter(pk=program.pk).update(owner=None)
    monkeypatch.setattr("scheduling.pages.views.bring_program.own_application", lambda request, slug: program)
    for form in (FORM, {"as": "json", "document": "{}"}):
        answer = client.post(f"/applications/{program.slug}/own", form)
        assert answer.status_code == 422
        assert "is not yours any more" in markup(answer)
    answer = client.post(f"/applications/{program.slug}/offer", follow=True)
    assert "is not yours any more" in markup(answer)
    assert Application.objects.get(pk=program.pk).owner_id is None


def test_an_edit_in_the_form_keeps_the_limits_that_it_does_not_show(client_as, people):
    parameters = [
        {"name": "size", "type": "integer", "min": 1, "max": 9, "default": 3, "label": "Size", "help": "Of the plate."},
        {"name": "mode", "type": "choice", "choices": ["a", "b, c", 'say "d"'], "default": "a"},
        {"name": "note", "type": "text", "max_length": 7, "pattern": "[a-z]*"},
    ]
    asked = ProgramRequest("Heat", kind="batch", content=SCRIPT.encode(), parameters=parameters, enabled=False)
    made = save_program(people["user"], dataclasses.replace(asked, ranks={"choices": [1, 2, 4]}))
    page = client_as("user").get(f"/applications/{made.slug}/own")
    sent = filled_form(page, "arguments") | {"description": "Another word."}
    wrong = client_as("user").post(f"/applications/{made.slug}/own", sent | {"name": ""})
    assert wrong.status_code == 422
    again = filled_form(wrong, "arguments") | {"name": "Heat"}
    assert client_as("user").post(f"/applications/{made.slug}/own", again).status_code == 302
    made.refresh_from_db()
    assert made.description == "Another word."
    kept = [{**each, "type": {"integer": "int"}.get(each["type"], each["type"])} for each in parameters]
    kept[0]["default"] = "3"
    assert made.parameters == kept
    assert (made.ranks, made.enabled) == ({"choices": [1, 2, 4]}, False)


def test_a_job_says_that_its_program_was_changed_after_it_was_submitted(client_as, people, program, make_job):
    job = make_job(people["user"], "queued", application=program)
    other = make_job(people["user"], "queued")
    assert "after this job was submitted" not in markup(client_as("user").get(f"/jobs/{job.pk}/"))
    save_program(people["user"], ProgramRequest("Secret heat", kind="batch", content=b"#!/bin/sh\ntrue\n"), program)
    page = markup(client_as("user").get(f"/jobs/{job.pk}/"))
    assert "user changed Secret heat on " in page
    assert "The job will run it as changed." in page
    assert "after this job was submitted" not in markup(client_as("user").get(f"/jobs/{other.pk}/"))
    later = make_job(people["user"], "queued", application=program)
    assert "after this job was submitted" not in markup(client_as("user").get(f"/jobs/{later.pk}/"))


def test_a_run_says_whether_it_ran_the_changed_program(client_as, people, program, make_job):
    job = make_job(people["user"], "running", application=program)
    save_program(people["user"], ProgramRequest("Secret heat", kind="batch", content=b"#!/bin/sh\ntrue\n"), program)
    assert "ran it as changed" not in markup(client_as("user").get(f"/jobs/{job.pk}/"))
    job.runs.update(created_at=timezone.now())
    assert "Run 1 ran it as changed." in markup(client_as("user").get(f"/jobs/{job.pk}/"))


@pytest.mark.parametrize(
    ("role", "status", "reads_text"),
    [
        ("user", 200, True),
        ("other", 404, False),
        ("operator", 200, False),
        ("manager", 200, False),
        ("administrator", 200, True),
    ],
)
def test_who_sees_all_jobs_reads_it_at_both_addresses_and_changes_nothing(client_as, program, role, status, reads_text):
    client, json_type = client_as(role), {"content_type": "application/json"}
    for address in ("applications", "own-programs"):
        assert client.get(f"/api/{address}/{program.slug}").status_code == status, address
    found = client.get(f"/api/own-programs/{program.slug}").json()
    assert ("content" in found) == reads_text
    assert ("shared_with" in found) == (role == "user")
    changed = client.patch(f"/api/own-programs/{program.slug}", {"description": "x"}, **json_type)
    assert (changed.status_code == 200) == (role == "user")


def test_a_script_of_slurm_that_would_start_for_each_rank_is_told_by_the_labels_of_the_form(client_as):
    form = FORM | {"kind": "mpi", "text": "#!/bin/bash\n#SBATCH -n 4\nsrun ./solve\n"}
    page = markup(client_as("user").post("/applications/own/new", form))
    assert "MPI program or script&#x27; is not possible. Enter Batch script, for with its lines #SBATCH" in page
