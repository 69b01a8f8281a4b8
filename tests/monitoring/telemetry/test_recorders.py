"""Two recorders at once while what they write is moved, and all of them are killed in the midst: nothing is lost or
doubled, on either database."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gridportal.base import processes as shell
from tests import migrated
from tests.monitoring.telemetry.recorders import MOMENTS, SUBJECTS, value

HERE = Path(__file__).resolve().parents[3]


class Portal:
    """A database with its home, and the processes that were started on it."""

    def __init__(self, home: Path, url: str) -> None:
        keep = {name: value for name, value in os.environ.items() if not name.startswith("GRIDPORTAL_")}
        self.env = keep | {
            "DJANGO_SETTINGS_MODULE": "gridportal.settings",
            "GRIDPORTAL_HOME": str(home),
            "DATABASE_URL": url,
        }
        if not url:
            migrated.put_into(home)
        else:
            shell.run([sys.executable, "manage.py", "migrate", "-v", "0"], timeout=120, cwd=HERE, env=self.env)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """A process that has begun its work."""
        program = [sys.executable, "-m", "tests.monitoring.telemetry.recorders", *words]
        process = subprocess.Popen(program, cwd=HERE, env=self.env, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        return process

    def read(self) -> dict[str, Any]:
        program = [sys.executable, "-m", "tests.monitoring.telemetry.recorders", "read"]
        return json.loads(shell.run(program, timeout=60, cwd=HERE, env=self.env).stdout)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=[pytest.mark.postgres, pytest.mark.slow])])
def portal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Portal]:
    if request.param == "sqlite":
        yield Portal(tmp_path, "")
        return
    with migrated.postgres_server() as url:
        yield Portal(tmp_path, url)


def test_nothing_is_lost_or_doubled_when_recorders_and_movers_are_killed(portal: Portal) -> None:
    running = [portal.start("record", "1"), portal.start("record", "2"), portal.start("compact")]
    try:
        time.sleep(0.5)
        for victim in running[1:]:
            victim.kill()
            victim.wait(10)
        running += [portal.start("record", "3"), portal.start("compact")]
        for process in (running[0], running[3]):
            assert process.wait(100) == 0
    finally:
        for process in running:
            process.kill()
            process.wait(10)
    found = portal.read()
    for subject in SUBJECTS:
        assert found["series"][subject] == [list(map(float, MOMENTS)), [value(subject, at) for at in MOMENTS]]
    assert found["live"] == dict.fromkeys(SUBJECTS, float(MOMENTS[-1]))
    samples, frames, blocks = found["counts"]
    assert samples == len(SUBJECTS) * len(MOMENTS)
    assert (frames, blocks > 0) == (0, True)
