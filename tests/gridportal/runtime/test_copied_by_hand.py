"""What docs/administrator.md has copied to nodes by hand is enough for each module that runs there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
#: Only `gridportal` itself must come from the copy: the interpreter's own packages stay.
IMPORT = """
import importlib, pathlib, sys
import gridportal
assert gridportal.__path__ == [sys.argv[1] + "/gridportal"], gridportal.__path__
for file in sorted(pathlib.Path(sys.argv[1]).rglob("*.py")):
    parts = file.relative_to(sys.argv[1]).with_suffix("").parts
    if parts[-1] not in ("__init__", "__main__"):
        importlib.import_module(".".join(parts))
"""


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The folder that the command of the guide makes."""
    (command,) = re.findall(
        r"^cp .*--parents .*$", (ROOT / "docs/administrator.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    argv = [*shlex.split(command)[:-1], str(tmp_path)]
    subprocess.run(argv, cwd=ROOT, check=True, timeout=240)
    return tmp_path


def environment(folder: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


def test_every_module_is_imported_from_the_copy(copied: Path) -> None:
    argv = [sys.executable, "-c", IMPORT, str(copied)]
    done = subprocess.run(argv, env=environment(copied), capture_output=True, text=True, timeout=120, cwd=copied)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(find_spec("mpi4py") is None, reason="mpi4py is not installed (make setup)")
def test_a_shipped_program_runs_from_the_copy(copied: Path) -> None:
    run_dir = copied / "run"
    run_dir.mkdir()
    argv = [str(Path(sys.executable).with_name("mpiexec")), "-n", "2", sys.executable, "-m", "gridportal.workloads.cg"]
    given = environment(copied) | {"GRIDPORTAL_RUN_DIR": str(run_dir)}
    done = subprocess.run(argv, env=given, capture_output=True, text=True, timeout=240, cwd=copied)
    assert "VERIFICATION SUCCESSFUL" in done.stdout, done.stderr
    assert '"event": "result"' in (run_dir / "progress.jsonl").read_text()


def test_the_agent_starts_from_the_copy(copied: Path) -> None:
    argv = [sys.executable, "-m", "gridportal.runtime.agent", "--help"]
    done = subprocess.run(argv, env=environment(copied), capture_output=True, text=True, timeout=240, cwd=copied)
    assert done.returncode == 0, done.stderr
    assert "--key-file" in done.stdout
