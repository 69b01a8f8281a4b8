"""Input files: from the form and over REST into the folder of the run, what is refused, who may take them along."""

from __future__ import annotations

import json
import os
import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from gridportal.accounts.models import User
from gridportal.base import run_files
from gridportal.base.errors import InputError
from scheduling.jobs.core.input_files import RESERVED, check_name
from scheduling.jobs.input_models import JobInput, StoredInput
from scheduling.jobs.models import Job
from scheduling.jobs.services import input_store, job_inputs, sharing_jobs
from scheduling.placing.services import recovery
from scheduling.runs.models import Run
from tests.markup import markup

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("application")]
FORM = {
    "application": "ep",
    "ranks": "1",
    "method": "pattern",
    "pattern": "ring",
    "candidates": "3",
    "seed": "0",
    "param-klass": "S",
    "param-seed": "1",
    "param-note": "",
}


@pytest.fixture(autouse=True)
def kept_here(tmp_path, settings):
    """Contents of other tests are nobody's here."""
    settings.PORTAL = settings.PORTAL.model_copy(
        update={"home": tmp_path, "job_input_bytes": 1000, "person_input_bytes": 1500}
    )


def file(name="mesh.dat", content=b"1 2 3\n"):
    return SimpleUploadedFile(name, content)


def send(client, *files, **changes):
    return client.post("/submit/", FORM | {"request_key": str(uuid.uuid4()), "inputs": list(files)} | changes)


def ended(job: Job) -> Job:
    Job.objects.filter(pk=job.pk).update(state="succeeded")
    return Job.objects.get(pk=job.pk)


def test_files_lie_in_the_folder_of_the_run_before_it_starts(client_as, fake_grid):
    assert send(client_as("user"), file(), file("table.csv", b"a,b\n")).status_code == 302
    job = Job.objects.get()
    assert [(each["name"], each["size"]) for each in job.inputs] == [("mesh.dat", 6), ("table.csv", 4)]
    recovery.advance_jobs()
    folder = Path(Run.objects.get().run_dir)
    assert (folder / "mesh.dat").read_bytes() == b"1 2 3\n"
    assert (folder / "mesh.dat").stat().st_nlink == 1
    assert fake_grid.submitted, "it was handed over after that"
    page = markup(client_as("user").get(f"/jobs/{job.pk}/"))
    assert "mesh.dat, 6 bytes" in page
    files = markup(client_as("user").get(f"/jobs/{job.pk}/runs/1/files/"))
    assert files.count('<span class="chip">input</span>') == 2


def test_what_a_program_writes_reaches_no_other_run(client_as, people, fake_grid):
    send(client_as("user"), file())
    recovery.advance_jobs()
    Path(Run.objects.get().run_dir, "mesh.dat").write_bytes(b"changed")
    assert input_store.path_of(Job.objects.get().inputs[0]["digest"]).read_bytes() == b"1 2 3\n"


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "a/b",
        "..",
        ".hidden",
        "-rf",
        "script.sh",
        "OUTPUT.LOG",
        "exit.json",
        "program",
        "gridportal.x",
        "x" * 121,
        "a\nb",
        "",
    ],
)
def test_names_that_lead_elsewhere_or_are_the_portals_are_refused(name):
    with pytest.raises(InputError, match="inputs"):
        check_name(name)


def test_no_file_of_the_portal_can_be_overwritten():
    names = {
        getattr(run_files, name)
        for name in ("SCRIPT", "PROGRAM", "OUTPUT", "PROGRESS", "EXIT", "DEPOTS", "HOSTS", "TRACE")
    }
    assert {name.lower() for name in names} <= RESERVED
    assert "gridportal_run_dir" not in RESERVED


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ([("exit.json", b"x")], "Enter another name: the portal writes exit.json itself."),
        ([("a", b"x" * 1001)], "Enter at most 1 kB with a job."),
        ([("a", b"x" * 600), ("b", b"x" * 600)], "Enter at most 1 kB with a job."),
        ([("a", b"x"), ("A", b"y")], "Enter each name once."),
        ([(f"f{number}", b"x") for number in range(51)], "Enter at most 50 files with a job."),
    ],
)
def test_what_cannot_come_with_a_job_is_said_beside_the_field(client_as, files, sentence):
    answer = send(client_as("user"), *(file(*each) for each in files))
    assert answer.status_code == 422
    assert sentence in markup(answer)
    assert "Choose the files again." in markup(answer)
    assert not Job.objects.exists()


def test_a_person_has_so_much_room_and_makes_more(client_as, people):
    client = client_as("user")
    send(client, file("a", b"a" * 900))
    assert "Yours take 900 bytes of 1.5 kB." in markup(client.get("/submit/?application=ep"))
    sentence = "at most 600 bytes: your input files take 900 bytes of 1.5 kB."
    assert sentence in markup(send(client, file("b", b"b" * 700)))
    assert send(client, file("again", b"a" * 900)).status_code == 302, "a content counts once"
    assert sentence in markup(send(client, file("alike", b"c" * 900))), "of the same size, but another one"
    assert sum(path.stat().st_size for path in input_store.folder().rglob("*") if path.is_file()) == 900
    assert send(client_as("other"), file("b", b"b" * 700)).status_code == 302
    for each in Job.objects.filter(owner=people["user"]):
        job = ended(each)
        assert client.post(f"/jobs/{job.pk}/inputs/remove").status_code == 302
    assert job_inputs.used_by(people["user"]) == 0
    assert send(client, file("b", b"b" * 700)).status_code == 302
    assert "They are not kept any more for other jobs." in markup(client.get(f"/jobs/{job.pk}/"))


def test_the_files_of_a_job_that_is_not_over_stay(client_as, people):
    client = client_as("user")
    send(client, file())
    job = Job.objects.get()
    assert "still needs its input files" in markup(client.post(f"/jobs/{job.pk}/inputs/remove", follow=True))
    assert JobInput.objects.filter(job=job).exists()


def test_a_resubmission_offers_the_files_and_takes_those_that_are_ticked(client_as, people):
    client = client_as("user")
    send(client, file("a", b"a"), file("b", b"b"))
    job = Job.objects.get()
    page = markup(client.get(f"/submit/?application=ep&from={job.pk}"))
    assert 'name="keep_inputs" value="a"' in page
    send(client, file("b", b"new"), **{"from": job.pk, "keep_inputs": ["a", "b"]})
    again = Job.objects.latest("pk")
    assert [(each["name"], each["size"]) for each in again.inputs] == [("a", 1), ("b", 3)]
    send(client, **{"from": job.pk, "keep_inputs": []})
    assert Job.objects.latest("pk").inputs == []
    assert StoredInput.objects.count() == 3


def test_only_who_may_read_its_files_takes_them_along(client_as, people):
    send(client_as("user"), file())
    job = Job.objects.get()
    sharing_jobs.share_job(people["user"], job, "other")
    client = client_as("other")
    assert "keep_inputs" not in markup(client.get(f"/submit/?application=ep&from={job.pk}"))
    again = f"/api/jobs/{job.pk}/resubmit"
    refused = client.post(again, {}, content_type="application/json")
    assert (refused.status_code, "inputs" in refused.content.decode()) == (400, True)
    without = client.post(again, {"keep_inputs": False}, content_type="application/json")
    assert (without.status_code, without.json()["inputs"]) == (201, [])
    sharing_jobs.share_job(people["user"], job, "other", with_files=True)
    assert client.post(again, {}, content_type="application/json").json()["inputs"][0]["name"] == "mesh.dat"
    assert job_inputs.used_by(people["other"]) == 6
    assert client_as("operator").post(again, {}, content_type="application/json").status_code == 201


def test_over_rest_files_come_in_a_form_beside_the_document(client_as, people):
    body = {
        "job": json.dumps({"application": "ep", "ranks": 1, "pattern": "ring"}),
        "inputs": [file(), file("b", b"b")],
    }
    made = client_as("user").post("/api/jobs", body)
    assert made.status_code == 201
    assert [(each["name"], each["size"]) for each in made.json()["inputs"]] == [("mesh.dat", 6), ("b", 1)]
    more = client_as("user").post(f"/api/jobs/{made.json()['id']}/resubmit", {"job": "{}", "inputs": [file("c", b"c")]})
    assert [each["name"] for each in more.json()["inputs"]] == ["mesh.dat", "b", "c"]


@pytest.mark.parametrize(
    "body",
    [
        {"job": "no JSON"},
        {"job": "[]"},
        {"job": '{"application": "ep", "ranks": 1, "pattern": "ring"}', "other": "x"},
        {"inputs": "text"},
        {"job": '{"application": "ep", "ranks": 1, "pattern": "ring", "inputs": [{"name": "a", "digest": "0"}]}'},
    ],
)
def test_no_other_form_and_no_hash_is_taken_over_rest(client_as, body):
    assert client_as("user").post("/api/jobs", body).status_code == 400
    assert not Job.objects.exists()


def test_a_form_that_is_too_long_is_refused_before_it_is_read(client_as, settings):
    settings.PORTAL = settings.PORTAL.model_copy(update={"job_input_bytes": 0})
    big = file("a", b"x" * 2_100_000)
    page = client_as("user").post("/submit/", FORM | {"inputs": [big]})
    assert (page.status_code, "accepted are at most 2 MB" in markup(page)) == (400, True)
    answer = client_as("user").post("/api/jobs", {"job": "{}", "inputs": [file("a", b"x" * 2_100_000)]})
    assert (answer.status_code, "at most 2 MB" in answer.json()["detail"]) == (413, True)
    assert not Job.objects.exists()


def test_files_come_with_a_submission_alone(client_as, people, make_job):
    job = make_job(people["user"], "waiting")
    assert client_as("user").post(f"/api/jobs/{job.pk}/take", {"inputs": [file()]}).status_code == 415


def test_every_job_of_a_sweep_has_the_files_and_they_count_once(client_as, people):
    send(client_as("user"), file(), **{"sweep-klass": "S,W"})
    assert [job.inputs[0]["name"] for job in Job.objects.all()] == ["mesh.dat"] * 2
    assert job_inputs.used_by(people["user"]) == 6


def test_a_job_whose_file_is_gone_fails_in_words(client_as, fake_grid):
    send(client_as("user"), file())
    job = Job.objects.get()
    input_store.path_of(job.inputs[0]["digest"]).unlink()
    recovery.advance_jobs()
    job.refresh_from_db()
    assert job.state == "failed"
    assert "mesh.dat is not kept any more" in str(job.reason.facts["error"])


def test_what_no_job_needs_goes_after_a_while(people, client_as):
    person: User = people["user"]
    job_inputs.receive(person, [file()])
    kept = input_store.path_of(StoredInput.objects.get().digest)
    assert job_inputs.forget_unused() == 0
    StoredInput.objects.update(used_at=timezone.now() - timedelta(hours=2))
    job_inputs.forget_unused()
    assert not StoredInput.objects.exists()
    old = timezone.now().timestamp() - 7200
    os.utime(kept, (old, old))
    assert job_inputs.forget_unused() == 1
    assert not kept.exists()
    assert Path(django_settings.PORTAL.home) in kept.parents


def form_with(name: str) -> tuple[bytes, str]:
    """A form with a file of this name, as no browser sends it."""
    parts = [
        b'--sep\r\nContent-Disposition: form-data; name="job"\r\n\r\n{"application": "ep", "node_count": 1}',
        f'--sep\r\nContent-Disposition: form-data; name="inputs"; filename="{name}"\r\n\r\nx'.encode(),
        b"--sep--\r\n",
    ]
    return b"\r\n".join(parts), "multipart/form-data; boundary=sep"


@pytest.mark.parametrize("name", ["..", ".", "a/..", "folder/"])
def test_a_file_without_a_name_is_not_left_out_without_a_word(client_as, name):
    body, kind = form_with(name)
    answer = client_as("user").post("/api/jobs", body, content_type=kind)
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith(f"A file cannot be called {name!r}; accepted is a name")
    page = client_as("user").post("/submit/", body, content_type=kind)
    assert page.status_code == 400
    assert "A file cannot be called" in markup(page)
    assert not Job.objects.exists()


def test_a_file_is_read_once_and_what_is_too_much_leaves_nothing(people, monkeypatch):
    reads = []

    class Upload:
        name, size = "mesh.dat", 900

        def chunks(self):
            reads.append(1)
            yield b"m" * 900

    job_inputs.receive(people["user"], [Upload()])
    assert len(reads) == 1
    monkeypatch.setattr(Upload, "chunks", lambda self: iter([b"n" * 900]))
    with pytest.raises(InputError, match="at most 600 bytes"):
        job_inputs.receive(people["user"], [Upload()])
    assert [path.stat().st_size for path in input_store.folder().rglob("*") if path.is_file()] == [900]


def part(disposition: bytes, content: bytes = b"x") -> bytes:
    return b"--sep\r\n" + disposition + b"\r\n\r\n" + content


@pytest.mark.parametrize(
    ("disposition", "sentence"),
    [
        (
            'Content-Disposition: form-data; name="inputs"; filename="é.dat"'.encode("latin-1"),
            "in the part inputs is not",
        ),
        (
            b"Content-Disposition: form-data; name=\"inputs\"; filename*=UTF-8''%E9.dat",
            "in the part inputs is not UTF-8",
        ),
        (b"Content-Disposition: form-data; name=inputs; filename*=nope''a.dat", "Part 2 of the form says"),
        (b'Content-Disposition: form-data; name="inputs"; filename=""', "The file in the part inputs has no name"),
        (b'Content-Disposition: form-data; filename="a.dat"', "Part 2 of the form has no name"),
        (b"Content-Type: text/plain", "Part 2 of the form has no Content-Disposition"),
        (b"Content-Disposition", "Part 2 of the form says"),
    ],
)
def test_a_part_that_would_be_lost_is_named(client_as, disposition, sentence):
    job = part(b'Content-Disposition: form-data; name="job"', b'{"application": "ep", "node_count": 1}')
    body = b"\r\n".join([job, part(disposition), b"--sep--\r\n"])
    answer = client_as("user").post("/api/jobs", body, content_type="multipart/form-data; boundary=sep")
    assert answer.status_code == 400, answer.content
    assert sentence in answer.json()["detail"]
    page = client_as("user").post("/submit/", body, content_type="multipart/form-data; boundary=sep")
    assert page.status_code == 400
    assert sentence in markup(page)


def test_a_file_field_that_nobody_filled_in_is_no_error(client_as, application):
    body = b"\r\n".join(
        [
            part(b'Content-Disposition: form-data; name="inputs"; filename=""', b""),
            part(b'Content-Disposition: form-data; name="job"', b'{"application": "ep", "node_count": 1}'),
            b"--sep--\r\n",
        ]
    )
    answer = client_as("user").post("/api/jobs", body, content_type="multipart/form-data; boundary=sep")
    assert answer.status_code in (201, 422), answer.content
    assert "part" not in str(answer.json().get("detail", ""))
