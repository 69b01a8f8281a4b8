"""The part of the registration form that says what lines of a program's output mean, and what it finds in a sample."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from scheduling.jobs.models import Application, Job
from scheduling.jobs.services.registering import register_application
from scheduling.pages.views.sample_output import MOST_SAMPLE
from tests.markup import markup

FIELDS = {
    "name": "Wave",
    "slug": "wave",
    "command": "/opt/wave",
    "success": "^ *Verification = SUCCESSFUL",
    "failure": "ERROR",
    "seconds": "Time = (.*)",
    "seconds_unit": "ms",
    "seconds_which": "first",
    "figures": "energy (eV) = Total Energy = (.*)\natoms = (.*) atoms",
    "progress": r"^step (?P<step>\d+)",
    "progress_of": "",
    "progress_file": "out/steps.csv",
    "enabled": "on",
}
STORED = {
    "success": "^ *Verification = SUCCESSFUL",
    "failure": "ERROR",
    "seconds": {"pattern": "Time = (.*)", "unit": "ms", "which": "first"},
    "figures": [
        {"name": "energy", "pattern": "Total Energy = (.*)", "unit": "eV"},
        {"name": "atoms", "pattern": "(.*) atoms"},
    ],
    "progress": {"pattern": r"^step (?P<step>\d+)", "file": "out/steps.csv"},
}
SAMPLE = "4000 atoms\nstep 1\nstep 7\nTotal Energy = -12.5D0\nTime = 1,5\nVerification = SUCCESSFUL\n"
TRY = "/applications/new/output"


def test_patterns_are_registered_shown_and_changed(client_as: Callable[..., Any]) -> None:
    client = client_as("administrator")
    page = markup(client.post("/applications/new", FIELDS, follow=True))
    assert "Total Energy = (.*)" in page
    assert "in ms, the first such line counts" in page
    assert Application.objects.get(slug="wave").output_patterns.document() == STORED
    form = client.get("/applications/wave/edit").context["form"]
    assert {name: form.initial[name] for name in FIELDS if name in form.initial} == FIELDS | {"enabled": True}
    client.post("/applications/wave/edit", FIELDS | {"success": "", "failure": "", "seconds": "", "figures": ""})
    assert not Application.objects.get(slug="wave").output_patterns


def test_rounds_are_counted_in_place_of_lines_and_not_beside_them(client_as: Callable[..., Any]) -> None:
    client = client_as("administrator")
    both = client.post("/applications/new", FIELDS | {"rounds": "on"})
    assert "one of them tells it" in both.context["form"].errors["rounds"][0]
    page = markup(client.post("/applications/new", FIELDS | {"rounds": "on", "progress": ""}, follow=True))
    assert "rounds of its outermost loop" in page
    assert Application.objects.get().output_patterns.rounds
    assert client.get("/applications/wave/edit").context["form"].initial["rounds"] is True


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"success": "("}, "success", "a ( is not closed"),
        ({"progress_file": "../steps.csv"}, "progress", "a path inside the run directory"),
        ({"failure": "(?=x)"}, "failure", "such as look-around"),
        ({"seconds": "Time = .*"}, "seconds", "one group around the number"),
        ({"progress": r"^step (\d+)"}, "progress", "a group (?P<step>...)"),
        ({"figures": "atoms = (.*) atoms\nenergy"}, "figures", "Entry 2"),
        ({"figures": "atoms = (.*) atoms\nenergy = E"}, "figures", "Entry 2, pattern"),
    ],
)
def test_a_wrong_pattern_is_refused_beside_its_field(
    client_as: Callable[..., Any], changes: dict[str, str], field: str, words: str
) -> None:
    client = client_as("administrator")
    answer = client.post("/applications/new", FIELDS | changes)
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]
    assert words in answer.context["form"].errors[field][0]
    assert not Application.objects.exists()
    shown = findings(client.post(TRY, FIELDS | changes | {"sample": SAMPLE}))
    assert [tone for tone, line in shown[field] if words in line] == ["bad"]


def test_steps_are_counted_by_a_parameter_that_is_there(client_as: Callable[..., Any]) -> None:
    answer = client_as("administrator").post("/applications/new", FIELDS | {"progress_of": "steps"})
    assert "one of the parameters" in answer.context["form"].errors["progress_of"][0]
    assert not Application.objects.exists()


def findings(answer: Any) -> dict[str, list[tuple[str, str]]]:
    assert answer.status_code == 200
    return {finding.part: finding.lines for finding in answer.context["findings"]}


def test_what_a_sample_has_is_told_beside_each_field(client_as: Callable[..., Any]) -> None:
    client = client_as("administrator")
    assert findings(client.post(TRY, FIELDS | {"sample": SAMPLE})) == {
        "success": [("good", "Found: “Verification = SUCCESSFUL”.")],
        "failure": [("good", "No line matches.")],
        "seconds": [("risk", "“1,5” is no number that counts. The line: “Time = 1,5”.")],
        "figures": [
            ("good", "energy: -12.5 eV. The line: “Total Energy = -12.5D0”."),
            ("good", "atoms: 4000. The line: “4000 atoms”."),
        ],
        "progress": [("good", "2 lines tell a step, the last one step 7.")],
    }
    shown = findings(client.post(TRY, FIELDS | {"sample": "ERROR <b>\n"}))
    assert shown["success"] == [("bad", "No line matches: such a job has failed.")]
    assert shown["failure"] == [("bad", "Found: “ERROR <b>”. Such a job has failed.")]
    assert shown["figures"][0] == ("risk", "energy: No line matches.")
    assert "<b>" not in markup(client.post(TRY, FIELDS | {"sample": "ERROR <b>\n"}))


@pytest.mark.parametrize("length", [MOST_SAMPLE + 1, 6_000_000])
def test_a_sample_that_is_too_long_is_said_beside_it_and_nothing_else_is(
    client_as: Callable[..., Any], length: int
) -> None:
    client = client_as("administrator")
    answer = client.post(TRY, urlencode(FIELDS | {"sample": "x" * length}), "application/x-www-form-urlencoded")
    assert set(map(str, findings(answer).values())) == {"[]"}, "what was found before goes"
    assert "The sample is too long. Paste at most 200,000 characters." in markup(answer)
    page = markup(client.get("/applications/new"))
    assert f"at most {MOST_SAMPLE:,} characters" in page
    assert 'id="found-sample"' in page
    assert "too long" not in markup(client.post(TRY, FIELDS | {"sample": "x" * MOST_SAMPLE}))


def test_trying_patterns_takes_the_forms_of_the_portal_alone(client_as: Callable[..., Any]) -> None:
    client = client_as("administrator", enforce_csrf_checks=True)
    assert client.post(TRY, FIELDS | {"sample": SAMPLE}).status_code == 403


def test_without_a_sample_it_is_told_that_a_pattern_can_be_looked_for(client_as: Callable[..., Any]) -> None:
    shown = findings(client_as("administrator").post(TRY, FIELDS | {"failure": ""}))
    assert shown["success"] == [("", "This can be looked for.")]
    assert shown["failure"] == []


def test_the_log_of_a_past_job_is_a_sample(
    client_as: Callable[..., Any], people: Any, make_job: Callable[..., Job], application: Application
) -> None:
    job = make_job(people["user"], "succeeded")
    directory = Path(job.runs.get().run_dir)
    directory.mkdir(parents=True, exist_ok=True)
    log = directory / "output.log"
    log.write_text(SAMPLE)
    client = client_as("administrator")
    assert list(client.get(f"/applications/{application.slug}/edit").context["past_jobs"]) == [job]
    asked = FIELDS | {"job": str(job.pk)}
    assert findings(client.post(TRY, asked))["success"] == [("good", "Found: “Verification = SUCCESSFUL”.")]
    assert findings(client.post(TRY, asked | {"sample": "x"}))["success"][0][0] == "bad"
    log.unlink()
    assert findings(client.post(TRY, asked))["success"] == [("", "This can be looked for.")]
    log.symlink_to("/etc/passwd")
    assert "output.log is a link" in markup(client.post(TRY, asked))
    for number in ("0", "x", "9" * 30, "٣"):
        assert findings(client.post(TRY, FIELDS | {"job": number}))["success"] == [("", "This can be looked for.")]


def test_figures_have_their_unit_on_the_page_of_a_job(
    client_as: Callable[..., Any], people: Any, make_job: Callable[..., Job], application: Application
) -> None:
    register_application("tests", {"output_patterns": STORED}, application)
    job = make_job(people["user"], "succeeded")
    job.runs.update(verified=True, seconds=None, result={"energy": -12.5, "zeta": 8.6})
    page = markup(client_as("user").get(f"/jobs/{job.pk}/"))
    assert "-12.5 eV" in page
    assert "8.6 eV" not in page
    job.runs.update(verified=False, result={})
    assert "wrong result" in markup(client_as("user").get(f"/jobs/{job.pk}/"))
