"""No page, list, report or API answer reads a whole table of jobs, events or runs on PostgreSQL."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from gridportal.base import processes as shell
from tests import migrated

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.postgres
@pytest.mark.timeout(900)
@pytest.mark.parametrize("which", ["some", pytest.param("all", marks=pytest.mark.slow)])
def test_every_page_is_read_by_indexes(tmp_path: Path, which: str) -> None:
    with migrated.postgres_server() as url:
        env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "TESTS_HOME": str(tmp_path),
            "DATABASE_URL": url,
        }
        done = shell.run(
            [sys.executable, "-m", "tests.scheduling.pages.plans", "300", which], timeout=800, cwd=ROOT, env=env
        )
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["whole"] == {}
    assert found["statements"] > 100
