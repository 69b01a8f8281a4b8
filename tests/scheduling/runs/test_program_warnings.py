"""What is told of a program before it has run: on its page, over REST and by the command line, and never refused."""

from __future__ import annotations

import json
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from typer.testing import CliRunner

from gridportal.base.reasons import Code
from monitoring.clusters.models import Cluster
from scheduling.jobs.models import Application, Job
from scheduling.jobs.services.own_programs import ProgramRequest, save_program
from scheduling.messages import message
from scheduling.pages.commands import registered
from scheduling.runs.services import program_file
from scheduling.runs.services.program_file import Presence
from scheduling.runs.services.program_warnings import program_warnings
from scheduling.runs.services.start_hints import start_hints
from tests.applications.conftest import need
from tests.markup import markup

OPEN_MPI_PROGRAM = Path("/bin/true").read_bytes() + b"Open MPI v4.1.4"
FORM = {"name": "Ring", "kind": "mpi", "mpi": "mpich", "arguments": "", "p-TOTAL_FORMS": "0", "p-INITIAL_FORMS": "0"}
JSON = {"content_type": "application/json"}

pytestmark = pytest.mark.django_db


@pytest.fixture
def everywhere(settings) -> None:
    settings.PORTAL = settings.PORTAL.model_copy(update={"own_programs": "always"})


def codes(application: Application) -> list[Code]:
    return [reason.code for reason in program_warnings(application)]


def brought(people, **asked) -> Application:
    name = " ".join(filter(None, ("Ring", asked.get("path"), asked.get("mpi"))))
    return save_program(people["user"], ProgramRequest(name, **asked))


def test_who_brings_a_program_is_warned(client_as):
    upload = {**FORM, "upload": SimpleUploadedFile("a.out", OPEN_MPI_PROGRAM)}
    page = markup(client_as("user").post("/applications/own/new", upload, follow=True))
    assert "linked with Open MPI, and MPICH" in page
    script = {**FORM, "name": "Wrapped", "text": "#!/bin/sh\nmpirun -n 4 ./solver\n"}
    assert "calls mpirun itself" in markup(client_as("user").post("/applications/own/new", script, follow=True))
    right = {**FORM, "name": "Right", "mpi": "openmpi", "upload": SimpleUploadedFile("a.out", OPEN_MPI_PROGRAM)}
    assert "is linked with" not in markup(client_as("user").post("/applications/own/new", right, follow=True))


def test_the_form_and_a_job_that_failed_warn_of_the_same(client_as, people, make_job):
    program, said = brought(people, content=OPEN_MPI_PROGRAM), "linked with Open MPI, and MPICH"
    form = markup(client_as("user").get(f"/submit/?application={program.slug}"))
    assert form.count(said) == 1
    assert "It has not run yet" not in form
    asked = {"application": program, "parameters": {}}
    failed, ended = (make_job(people["user"], state, **asked) for state in ("failed", "succeeded"))
    page = markup(client_as("user").get(f"/jobs/{failed.pk}/"))
    assert page.index("Why it failed.") < page.index(said)
    assert said not in markup(client_as("user").get(f"/jobs/{ended.pk}/"))
    program.save()  # it is another one now than the one that failed
    assert said not in markup(client_as("user").get(f"/jobs/{failed.pk}/"))


def test_what_the_launcher_of_its_cluster_starts_is_not_warned_of(people, make_job):
    run = make_job(people["user"], "failed", application=brought(people, content=OPEN_MPI_PROGRAM)).runs.get()
    assert [reason.code for reason in start_hints(run)] == [Code.LINKED_OTHERWISE]
    run.job.application.launcher = ["srun"]
    assert start_hints(run) == []


def test_the_page_of_a_program_names_its_mpi_and_its_launcher(client_as, people):
    program = brought(people, mpi="mpich-debian", content=OPEN_MPI_PROGRAM)
    page = markup(client_as("user").get(f"/applications/{program.slug}/"))
    assert "<dt>MPI</dt><dd>MPICH 4.0" in page
    assert ">mpiexec.mpich -n {ranks} -hosts {hosts}</div>" in page


def test_a_change_is_warned_of_on_the_page_that_follows_and_once(client_as, people):
    program = brought(people, mpi="openmpi", content=OPEN_MPI_PROGRAM)
    changed = {**FORM, "mpi": "mpich"}
    page = markup(client_as("user").post(f"/applications/{program.slug}/own", changed, follow=True))
    assert page.count("is linked with Open MPI") == 1
    assert "A test run of two ranks" in page


def test_debians_mpich_under_the_portals_own_is_told(people, tmp_path, client_as):
    need("mpicc.mpich")
    (tmp_path / "main.c").write_text("#include <mpi.h>\nint main(void) { MPI_Init(0, 0); return MPI_Finalize(); }\n")
    subprocess.run(["mpicc.mpich", "-o", "main", "main.c"], check=True, timeout=60, cwd=tmp_path)
    content = (tmp_path / "main").read_bytes()
    program = brought(people, content=content)
    assert codes(program)[0] == Code.DEBIANS_MPICH
    page = markup(client_as("user").get(f"/applications/{program.slug}/"))
    assert "Choose MPICH of Debian" in page
    assert Code.DEBIANS_MPICH not in codes(brought(people, content=content, mpi="mpich-debian"))
    program.launcher = ["/usr/bin/mpiexec", "-n", "{ranks}", "-hosts", "{hosts}"]
    assert Code.DEBIANS_MPICH not in codes(program)
    program.launcher, program.mpi = [], "MPICH 4.0"
    assert Code.DEBIANS_MPICH not in codes(program)


def test_rest_answers_with_the_same_as_values(client_as):
    sent = {"name": "Wrapped", "content": "#!/bin/sh\nmpirun -n 4 ./solver\n"}
    made = client_as("user").post("/api/own-programs", sent, **JSON)
    assert made.status_code == 201
    first, second = made.json()["warnings"]
    assert (first["code"], first["facts"]) == ("starts_ranks_itself", {"launcher": "mpirun", "is_own": True})
    assert first["message"].startswith("The script calls mpirun itself")
    assert (second["code"], second["facts"]) == ("never_tried", {"runs": 0, "is_own": True})
    address = f"/api/own-programs/{made.json()['slug']}"
    changed = client_as("user").patch(address, {"kind": "batch"}, **JSON).json()
    assert [each["code"] for each in changed["warnings"]] == ["never_tried"]
    assert client_as("user").get(address).json()["warnings"] == changed["warnings"]


def test_rest_answers_an_administrator_the_same(client_as):
    sent = {"slug": "ls", "name": "List", "command": ["/nowhere/ring"]}
    made = client_as("administrator").post("/api/applications", sent, **JSON)
    assert [each["code"] for each in made.json()["warnings"]] == ["program_not_seen", "never_tried"]
    changed = client_as("administrator").patch("/api/applications/ls", {"command": ["/etc/passwd"]}, **JSON)
    assert [each["code"] for each in changed.json()["warnings"]] == ["program_not_executable", "never_tried"]


def test_who_registers_a_wrapper_is_told_what_the_page_of_it_has(client_as, public_folder):
    wrapper = public_folder / "wrapper"
    wrapper.write_text("#!/bin/sh\nexec mpirun -n 4 ./solver\n")
    wrapper.chmod(0o755)
    client = client_as("administrator")
    made = client.post("/api/applications", {"slug": "w", "name": "W", "command": [str(wrapper)]}, **JSON)
    shown = {each["code"]: each["message"] for each in made.json()["warnings"]}
    assert "Make it the launcher, which is started once, with the number of ranks" in shown["starts_ranks_itself"]
    assert "batch script" not in shown["starts_ranks_itself"]
    assert shown["never_tried"].startswith("It has not run yet. Submit a job of two ranks: it shows whether")
    assert "Test run" not in markup(client.get("/applications/w/"))


@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize(
    ("path", "kind", "code"),
    [
        ("/nowhere/ring", "mpi", Code.PROGRAM_NOT_SEEN),
        ("/usr", "mpi", Code.PROGRAM_NOT_SEEN),
        ("/etc/passwd", "mpi", Code.PROGRAM_NOT_EXECUTABLE),
        ("/etc/passwd", "batch", Code.NEVER_TRIED),
        ("/bin/sh", "mpi", Code.NEVER_TRIED),
        ("/tmp/ring", "mpi", Code.PROGRAM_NOT_SHARED),
    ],
)
def test_a_program_by_its_path(people, path, kind, code):
    assert codes(brought(people, path=path, kind=kind))[0] is code


@pytest.mark.usefixtures("everywhere")
def test_the_sentence_names_the_program_the_nodes_and_what_to_do(people):
    missing, private = (program_warnings(brought(people, path=path))[0] for path in ("/nowhere/x", "/var/tmp/a/x"))
    assert message(missing) == "There is no file /nowhere/x on the nodes of grid. Put it there, or correct the path."
    assert message(private).startswith("Each node of grid has a /var/tmp of its own, so it does not find /var/tmp/a/x.")


def test_where_its_programs_do_not_run_nothing_is_said_of_the_nodes(people):
    assert codes(brought(people, path="/nowhere/ring")) == [Code.NEVER_TRIED]


def test_what_lies_behind_a_closed_folder_is_not_told(public_folder):
    closed, program = public_folder / "closed", public_folder / "closed" / "ring"
    closed.mkdir(mode=0o700)
    program.write_bytes(OPEN_MPI_PROGRAM)
    link = public_folder / "link"
    link.symlink_to(program)
    asked = (program, closed / "none", link, public_folder / "none", closed)
    found = [program_file.presence(str(path)) for path in asked]
    assert found == [Presence.UNKNOWN] * 3 + [Presence.MISSING] * 2
    closed.chmod(0o755)
    assert program_file.presence(str(link)) == Presence.NOT_EXECUTABLE
    (public_folder / "round").symlink_to(public_folder / "round")
    assert program_file.presence(str(public_folder / "round")) == Presence.MISSING


def test_a_run_that_ended_well_ends_the_doubt_until_it_is_changed(people, make_job):
    program = brought(people, kind="batch", content=b"#!/bin/sh\n./x\n")
    assert message(program_warnings(program)[0]).startswith("It has not run yet. A test run of two ranks")
    make_job(people["user"], "failed", application=program, parameters={})
    assert codes(program) == [Code.NEVER_TRIED]
    assert message(program_warnings(program)[0]).startswith("No run of it has ended well since its last change.")
    make_job(people["user"], "succeeded", application=program, parameters={})
    assert codes(program) == []
    assert codes(save_program(people["user"], ProgramRequest("Ring", kind="batch"), program)) == [Code.NEVER_TRIED]


def test_rest_submits_the_test_run(client_as, people):
    Cluster.objects.create(name="grid", facts={"isolation": "own-user"})
    program = brought(people, kind="batch", content=b"#!/bin/sh\n./x\n")
    made = client_as("user").post(f"/api/own-programs/{program.slug}/test", {}, **JSON)
    assert made.status_code == 201
    job = Job.objects.get(pk=made.json()["id"])
    assert (job.application, job.ranks, job.name) == (program, 2, "test of Ring")
    assert client_as("other").post(f"/api/own-programs/{program.slug}/test", {}, **JSON).status_code == 404


@pytest.fixture
def command(monkeypatch):
    """Runs `gridportal application` with these words; gives what it prints, and the sentence that refused it."""
    monkeypatch.setattr(registered, "database", nullcontext)

    def run(*words: str) -> tuple[str, str]:
        result = CliRunner().invoke(registered.app, list(words))
        return result.stdout, str(result.exception or "")

    return run


def test_the_command_line_registers_and_warns(command, tmp_path):
    file, fields = tmp_path / "ring.json", {"slug": "ring", "name": "Ring", "command": ["/nowhere/ring"]}
    file.write_text(json.dumps(fields))
    printed, refused = command("register", str(file))
    assert printed.splitlines()[:2] == [
        "Ring is registered.",
        "- There is no file /nowhere/ring on the nodes of grid. Put it there, or correct the path.",
    ]
    assert "--change changes that one" in command("register", str(file))[1]
    file.write_text(json.dumps(fields | {"command": ["/bin/true"], "name": "Right"}))
    printed, refused = command("register", str(file), "--change", "--json")
    assert (refused, json.loads(printed)["name"]) == ("", "Right")
    assert Application.objects.get(slug="ring").command == ["/bin/true"]
    file.write_text(json.dumps(fields | {"slug": "twin", "name": "RIGHT"}))
    assert "a name that no other application has" in command("register", str(file))[1]
    checked = json.loads(command("check", "ring", "--json")[0])
    assert [each["code"] for each in checked["warnings"]] == ["never_tried"]


def test_the_command_line_refuses_in_sentences(command, tmp_path):
    file = tmp_path / "wrong.json"
    file.write_text('{"slug": "a", "name": {}, "command": 3}')
    refused = command("register", str(file))[1]
    assert "name is" in refused
    assert "command is" in refused
    file.write_text("{")
    assert "file is" in command("register", str(file))[1]
    assert "slug is 'none'" in command("check", "none")[1]
