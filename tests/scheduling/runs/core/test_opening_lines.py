"""What opens a job's folder to the portal: tried on files, as their owner."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from scheduling.runs.core.opening_lines import OpenedFolder, line
from scheduling.runs.core.script import Script, render

READER = 61200
SCRIPT = Script("t", "m", ("n1",), ("true",), "/r", launcher=("env",))


def entries(path: Path) -> set[str]:
    listed = subprocess.run(["getfacl", "-cEn", path], capture_output=True, text=True, timeout=20, check=True)
    return set(listed.stdout.split())


@pytest.mark.skipif(shutil.which("setfacl") is None, reason="setfacl is not installed: apt-get install acl")
def test_a_script_opens_what_its_program_closed_to_one_more_user_and_nobody_else(tmp_path: Path) -> None:
    folder, run_dir, outside = tmp_path / "it's a job", tmp_path / "run", tmp_path / "outside"
    (folder / "deep").mkdir(parents=True)
    run_dir.mkdir()
    outside.touch(0o600)
    (folder / "link").symlink_to(outside)
    (folder / "deep" / "file").touch(0o640)
    (folder / "deep").chmod(0o700)
    script = replace(SCRIPT, run_dir=str(run_dir), opens=OpenedFolder(str(folder), READER))
    done = subprocess.run(["bash"], input=render(script), text=True, timeout=60, check=False, capture_output=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert entries(folder / "deep") >= {f"user:{READER}:rwx", "group::---", "other::---"}
    assert entries(folder / "deep" / "file") >= {f"user:{READER}:rw-", "group::r--", "other::---"}
    assert outside.stat().st_mode & 0o777 == 0o600
    assert os.listxattr(outside) == []


def test_without_such_a_folder_there_is_no_such_line() -> None:
    assert line(None) == ""
    assert "setfacl" not in render(SCRIPT)
