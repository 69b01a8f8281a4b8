"""Every tab of the usage report after a year read from a log, beside an empty page."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import postgres_server

ROOT = Path(__file__).parents[2]


@pytest.mark.bench
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("database", ["postgresql", "sqlite"])
def test_reports_of_a_year(database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """100,000 jobs, or as many as JOBS says."""
    jobs = int(os.environ.get("JOBS", "100000"))
    with capsys.disabled():
        if database == "sqlite":
            assert _tell(tmp_path, jobs) == 0
            return
        with postgres_server() as url:
            assert _tell(tmp_path, jobs, DATABASE_URL=url) == 0


def _tell(home: Path, jobs: int, **variables: str) -> int:
    """Print the table of a portal of its own; the exit code."""
    sys.stdout.write(f"\nReports of {jobs} jobs\n")
    sys.stdout.flush()
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", "TESTS_HOME": str(home), **variables}
    words = [sys.executable, "-m", "tests.bench.report_times", str(jobs)]
    return subprocess.run(words, env=environment, cwd=ROOT, timeout=3500).returncode
