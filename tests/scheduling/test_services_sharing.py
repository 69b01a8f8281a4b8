"""Whose a run directory is where jobs run as the person who submitted."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from gridportal.clusters import Cluster
from gridportal.errors import InputError
from scheduling.services.sharing import share

AS_PERSON = Cluster(name="hpc", backend="slurm", prefix=("sudo", "-n", "-u", "{user}"))


def test_nothing_changes_where_jobs_run_as_the_portal(tmp_path: Path) -> None:
    share(tmp_path, Cluster(name="hpc", backend="slurm"), "no such person at all")
    assert tmp_path.stat().st_uid == os.geteuid()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives directories away")
@pytest.mark.parametrize("name", ["nobody-of-this-name", "root", "a b"])
def test_who_has_no_account_is_refused_in_one_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"^[^\n]+\.$"):
        share(tmp_path, AS_PERSON, name)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives directories away")
def test_the_person_owns_the_directory_and_its_script_and_a_link_in_it_leads_nowhere(tmp_path: Path) -> None:
    folder, outside = tmp_path / "run", tmp_path / "outside"
    folder.mkdir()
    outside.touch()
    (folder / "script.sh").touch()
    (folder / "link").symlink_to(outside)
    share(folder, AS_PERSON, "daemon")
    theirs = pwd.getpwnam("daemon").pw_uid
    assert folder.stat().st_uid == (folder / "script.sh").stat().st_uid == theirs
    assert outside.stat().st_uid == 0
