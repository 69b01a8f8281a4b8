"""Whose program it is hears that a performance model of it fails: once for each kind of failure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scheduling import tasks
from scheduling.contracts.models import Contract
from scheduling.contracts.services import opening
from scheduling.jobs.models import Application
from scheduling.notices import notice_messages
from scheduling.notices.models import Notice
from scheduling.notices.services import choices, writing_notices
from scheduling.performance.services.asking import Answers, ModelProblem
from scheduling.runs.models import Run

Begin = Callable[..., Run]
THEIRS = "ValueError: no figures for n = 7"


@pytest.fixture
def begin(people: Any, make_job: Any, monkeypatch: pytest.MonkeyPatch) -> Begin:
    """begin("ValueError: ..."): a run of other's begins, and a model fails so for it."""

    def make(said: str, model: str = "sweep", is_plugin: bool = True) -> Run:
        run: Run = make_job(people["other"], "running").runs.get()
        Path(run.run_dir, "progress.jsonl").touch()
        answers = Answers(problems=(ModelProblem(model, said, is_plugin),))
        monkeypatch.setattr(opening, "predict_all", lambda *asked: answers)
        tasks.judge_contracts()
        return run

    return make


@pytest.fixture
def owned(people: Any, application: Application) -> Application:
    """The program is the user's own."""
    application.owner = people["user"]
    application.save()
    return application


def test_the_owner_hears_of_it_with_the_models_own_words(begin: Begin, owned: Application, client_as: Any) -> None:
    begin(THEIRS)
    notice = Notice.objects.get()
    assert (notice.person.username, notice.kind, notice.job) == ("user", "model", None)
    assert notice_messages.title(notice) == f"A performance model of {owned.name} fails"
    assert f"The performance model sweep failed: {THEIRS}." in notice_messages.text(notice)
    assert notice_messages.letter(notice, "https://p.example").link == f"https://p.example{owned.get_absolute_url()}"
    page = client_as("user").get("/notices/").content.decode()
    assert f"A performance model of {owned.name} fails" in page
    assert owned.get_absolute_url() in page


@pytest.mark.usefixtures("owned")
def test_once_for_each_kind_of_failure_and_model(begin: Begin) -> None:
    for said in (THEIRS, "ValueError: no figures for n = 8", "no answer within 10 s", "no answer within 3 s"):
        begin(said)
    begin(THEIRS, model="other")
    told = [(each.reason.facts["model"], each.reason.facts["error"]) for each in Notice.objects.order_by("pk")]
    assert told == [("sweep", THEIRS), ("sweep", "no answer within 10 s"), ("other", THEIRS)]
    Notice.objects.all().delete()
    begin(THEIRS)
    assert Notice.objects.count() == 1, "what is no longer kept is told again"


@pytest.mark.usefixtures("owned")
def test_what_is_wrong_with_a_model_of_the_portal_is_not_told_its_users(begin: Begin) -> None:
    begin("No BLAS.", model="qr", is_plugin=False)
    assert not Notice.objects.exists()


def test_nobody_owns_a_program_that_is_everybodys(begin: Begin) -> None:
    run = begin(THEIRS)
    assert Contract.objects.get(run=run).problems == [{"model": "sweep", "message": THEIRS}]
    assert not Notice.objects.exists()


@pytest.mark.usefixtures("owned")
def test_who_does_not_want_to_hear_of_it_does_not(begin: Begin, people: Any) -> None:
    choices.change_settings(people["user"], {"page": ["failed"]})
    begin(THEIRS)
    assert not Notice.objects.exists()


@pytest.mark.usefixtures("owned")
def test_a_contract_is_opened_also_where_nobody_can_be_told(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*about: Any) -> int:
        raise RuntimeError("no notice")

    monkeypatch.setattr(writing_notices, "tell_of_model", fail)
    assert Contract.objects.filter(run=begin(THEIRS)).exists()
