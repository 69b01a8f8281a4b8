"""Whose a run directory is where jobs run as the person who submitted."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from gridportal.base.clusters import Cluster
from gridportal.base.errors import InputError
from gridportal.runtime.depot import depot_access
from monitoring.telemetry.services.sweeps import refresh_loads
from scheduling.jobs.models import Job
from scheduling.runs.services.sharing import share, share_file
from tests.scheduling.pages.test_pages_slurm import FORM
from tests.scheduling.runs.fake_queue import FakeQueue

AS_PERSON = Cluster(name="hpc", backend="slurm", prefix=("sudo", "-n", "-u", "{user}"))


def test_nothing_changes_where_jobs_run_as_the_portal(tmp_path: Path) -> None:
    share(tmp_path, Cluster(name="hpc", backend="slurm"), "no such person at all")
    assert tmp_path.stat().st_uid == os.geteuid()


@pytest.mark.parametrize("name", ["nobody-of-this-name", "root", "a b", "-u root", "ann;id"])
def test_who_has_no_account_is_refused_in_one_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"^[^\n]+\.$"):
        share(tmp_path, AS_PERSON, name)


def test_another_name_of_root_is_refused_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pwd, "getpwnam", lambda _: pwd.getpwuid(0))
    with pytest.raises(InputError, match="user name is 'toor'"):
        share(tmp_path, AS_PERSON, "toor")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives directories away")
def test_the_person_alone_owns_the_directory_and_nothing_else(tmp_path: Path) -> None:
    folder, outside = tmp_path / "run", tmp_path / "outside"
    folder.mkdir()
    outside.touch()
    (folder / "link").symlink_to(outside)
    share(folder, AS_PERSON, "daemon")
    assert folder.stat().st_uid == pwd.getpwnam("daemon").pw_uid
    assert folder.stat().st_mode & 0o077 == 0
    assert outside.stat().st_uid == 0


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file that lets a run use depots, as the portal writes it."""
    file = tmp_path / "depots.json"
    depot_access.write(file, depot_access.issued(b"a key", "7", "{node}:7782"))
    return file


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_for_one_person_is_that_persons_alone(secret: Path) -> None:
    share_file(secret, AS_PERSON, "daemon")
    assert secret.stat().st_uid == pwd.getpwnam("daemon").pw_uid
    assert secret.stat().st_mode & 0o077 == 0


@pytest.mark.skipif(shutil.which("setfacl") is None, reason="setfacl is not installed")
def test_without_root_the_file_stays_the_portals_and_one_person_more_may_read_it(
    secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: secret.stat().st_uid or 1000)
    share_file(secret, AS_PERSON, "daemon")
    listed = subprocess.run(["getfacl", "-cE", secret], capture_output=True, text=True, timeout=20, check=True).stdout
    assert set(listed.split()) == {"user::rw-", "user:daemon:r--", "group::---", "mask::r--", "other::---"}
    assert depot_access.read(secret).job == "7"  # the bits of the group are those of its list
    subprocess.run(["setfacl", "-b", secret], timeout=20, check=True)
    secret.chmod(0o640)
    with pytest.raises(InputError, match="only its owner may read"):
        depot_access.read(secret)


def test_who_has_no_account_reads_so_on_the_form_and_in_the_api(
    client_as: Any, fake_queue: FakeQueue, application: Any, people: Any, settings: Any
) -> None:
    settings.CLUSTERS = {"hpc": AS_PERSON}
    refresh_loads("hpc")
    type(people["user"]).objects.filter(username="user").update(username="nobody-of-this-name")
    client = client_as("user")
    answer = client.post(reverse("submit"), FORM | {"cluster": "hpc"})
    assert answer.status_code == 422
    assert "as whom your jobs run on hpc" in answer.content.decode()
    body = {"application": "ep", "node_count": 2, "parameters": {"klass": "S"}}
    answer = client.post(reverse("api-job-list"), json.dumps(body), content_type="application/json")
    assert answer.status_code == 400, answer.content
    assert "unix account" in answer.content.decode()
    assert not Job.objects.exists()
