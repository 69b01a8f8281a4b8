"""Each job of a program that can be stopped has a folder over all its runs, and the program knows its place in it."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from gridportal.base.clusters import Cluster
from gridportal.base.errors import InputError
from scheduling import tasks
from scheduling.jobs.core.stop_means import StopBy, StopMeans
from scheduling.jobs.models import Application, Job
from scheduling.jobs.services.registering import register_application
from scheduling.runs.services import job_folder, sharing
from tests.fake_grid import FakeGrid

Submit = Callable[..., Job]


def stoppable(application: Application) -> Application:
    return register_application("tests", {"stop_means": {"by": "srs", "seconds": 5}}, application)


def test_a_program_that_can_be_stopped_gets_the_folder_of_its_job(
    submit: Submit, fake_grid: FakeGrid, application: Application
) -> None:
    stoppable(application)
    job = submit(2)
    tasks.place_jobs(job.cluster)
    run = job.runs.get()
    place = job_folder.checkpoints(job)
    assert place.is_dir()
    assert f"export GRIDPORTAL_CHECKPOINTS={place}\n" in run.script
    assert fake_grid.runs[run.key]["job_dir"] == str(place.parent)


def test_others_have_none(submit: Submit, fake_grid: FakeGrid) -> None:
    job = submit(2)
    tasks.place_jobs(job.cluster)
    run = job.runs.get()
    assert "GRIDPORTAL_CHECKPOINTS" not in run.script
    assert (fake_grid.runs[run.key]["job_dir"], job_folder.folder(job).exists()) == ("", False)


def test_the_stop_is_a_file_that_comes_and_goes_and_no_link_of_the_program_is_followed(
    submit: Submit, fake_grid: FakeGrid, application: Application, tmp_path: Path
) -> None:
    stoppable(application)
    job = submit(2)
    tasks.place_jobs(job.cluster)
    place = job_folder.checkpoints(job)
    (tmp_path / "precious").write_text("kept", encoding="utf-8")
    (place / "stop").symlink_to(tmp_path / "precious")
    job_folder.ask_stop(job)
    assert not (place / "stop").is_symlink()
    job_folder.take_stop_back(job)
    job_folder.take_stop_back(job)
    assert not (place / "stop").exists()
    place.rmdir()
    place.symlink_to(tmp_path)
    with pytest.raises(NotADirectoryError):
        job_folder.ask_stop(job)
    job_folder.free(job)
    job_folder.free(job)
    assert (job_folder.folder(job).exists(), (tmp_path / "precious").read_text()) == (False, "kept")


def test_how_a_program_is_stopped_is_a_value_of_its_application(application: Application) -> None:
    assert not Application.objects.get(pk=application.pk).stop_means
    stoppable(application)
    kept = Application.objects.get(pk=application.pk).stop_means
    assert kept == StopMeans(StopBy.SRS, 5.0)
    for wrong in (
        {"by": "shouting"},
        {"by": "srs", "seconds": 0},
        {"how": "srs"},
        ["srs"],
        {"by": "srs", "seconds": True},
    ):
        with pytest.raises(InputError, match="stop_means"):
            register_application("tests", {"stop_means": wrong}, application)


def test_what_nobody_can_read_is_not_stoppable(application: Application, caplog: pytest.LogCaptureFixture) -> None:
    Application.objects.filter(pk=application.pk).update(stop_means={"by": "shouting"})
    assert not Application.objects.get(pk=application.pk).stop_means
    assert "its stop_means cannot be read" in caplog.text


def test_people_get_through_to_their_folders_whatever_the_portals_umask_is(
    submit: Submit, fake_grid: FakeGrid, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    stoppable(application)
    monkeypatch.setattr(sharing, "share", lambda *_: None)
    job = submit(2)
    shutil.rmtree(job_folder.folder(job).parent, ignore_errors=True)
    before = os.umask(0o077)
    try:
        job_folder.prepared(job, Cluster(name="hpc", backend="slurm", prefix=("sudo", "-n", "-u", "{user}")))
    finally:
        os.umask(before)
    assert stat.S_IMODE(job_folder.folder(job).parent.stat().st_mode) == 0o711


@pytest.mark.parametrize("helps", [True, False])
def test_a_folder_that_is_closed_to_the_portal_is_opened_by_its_owner_before_it_is_freed(
    submit: Submit, fake_grid: FakeGrid, application: Application, monkeypatch: pytest.MonkeyPatch, helps: bool
) -> None:
    stoppable(application)
    job = submit(2)
    tasks.place_jobs(job.cluster)
    opened, remove = list[bool](), shutil.rmtree

    def closed(path: Path) -> None:
        if not opened or not helps:
            raise PermissionError(path)
        remove(path)

    monkeypatch.setattr(shutil, "rmtree", closed)
    monkeypatch.setattr(job_folder, "reopen", lambda _: opened.append(True) or helps)
    if helps:
        job_folder.free(job)
    else:
        with pytest.raises(PermissionError):
            job_folder.free(job)
    assert (len(opened), job_folder.folder(job).exists()) == (1, not helps)
