"""On CI a skip of a test with real parts is a failure, wherever it comes from; elsewhere it is a skip."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]
_TESTS = """
import pytest

@pytest.fixture
def server():
    pytest.skip("there is none")

@pytest.mark.slurm
def test_by_its_fixture(server): pass

@pytest.mark.browser
def test_by_itself(): pytest.skip("there is none")

@pytest.mark.postgres
@pytest.mark.skipif(True, reason="there is none")
def test_by_its_mark(): pass

@pytest.mark.redis
@pytest.mark.xfail
def test_expected_to_fail(): assert False

def test_without_real_parts(): pytest.skip("not here")
"""


@pytest.mark.parametrize(
    ("ci", "workers", "failed"), [("true", "0", 3), ("1", "2", 3), ("", "0", 0), ("false", "0", 0), (None, "2", 0)]
)
def test_a_skipped_real_part_fails_on_ci_only(tmp_path: Path, ci: str | None, workers: str, failed: int) -> None:
    marks = "".join(f"\n  {name}" for name in ("slurm", "browser", "postgres", "redis"))
    (tmp_path / "pytest.ini").write_text(f"[pytest]\nmarkers ={marks}\n")
    (tmp_path / "conftest.py").write_text("from tests.no_silent_skips import pytest_runtest_makereport\n")
    (tmp_path / "test_real.py").write_text(_TESTS)
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "PYTEST_ADDOPTS")}
    env = kept | {"PYTHONPATH": str(_ROOT)}
    env |= {"CI": ci} if ci is not None else {}
    env |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    argv = [sys.executable, "-m", "pytest", "-p", "xdist", "-n", workers, "-q", "--no-summary"]
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=150)
    assert done.returncode == (1 if failed else 0), done.stdout
    assert f"{4 - failed} skipped" in done.stdout
    ended = dict(reversed(word.split()) for word in done.stdout.splitlines()[-1].partition(" in ")[0].split(", "))
    assert int(ended.get("failed", 0)) + int(ended.get("errors", 0)) == failed
