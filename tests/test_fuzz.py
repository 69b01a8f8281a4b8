"""`make fuzz`: new examples in every round, what fails is said with the way to see it again, and the rest goes on."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import settings

from tests import fuzz
from tests.examples import examples

_ROOT = Path(__file__).parents[1]
_PROPERTIES = """
import pathlib
from hypothesis import given, settings, strategies as st

@given(st.integers(0, 1000))
@settings(max_examples=5)
def test_sound(number):
    pathlib.Path("seen").open("a").write(f"{number}\\n")

@given(st.integers(0, 10**9))
def test_false(number):
    assert number < 1000

def test_plain(): raise SystemExit("no property")
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two properties and a plain test, which rounds run in place of ours."""
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  bench\n")
    profile = 'from hypothesis import settings\nsettings.register_profile("fuzz", derandomize=False, database=None)\n'
    (tmp_path / "conftest.py").write_text(profile)
    (tmp_path / "test_properties.py").write_text(_PROPERTIES)
    monkeypatch.setenv("PYTHONPATH", str(_ROOT))
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:django")  # it would set up Django, which none of them needs
    monkeypatch.setattr(fuzz, "ROOT", tmp_path)
    return tmp_path


def test_a_round_tells_what_fails_and_how_to_see_it_again(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = fuzz.Found()
    for _ in range(2):
        fuzz._round([], time.time() + 600, found)
    shown = capfd.readouterr().out
    assert (found.rounds, found.tests, found.broken, found.code) == (2, 4, 0, 1)
    assert dict(found.failed) == {"test_properties.py::test_false": 2}
    assert found.examples >= 10
    assert "number=1000" in shown, "no falsifying example"
    seeds = re.findall(r"show it again: .*--hypothesis-seed=(\d+) 'test_properties.py::test_false'", shown)
    assert len(set(seeds)) == 2
    assert len(set((project / "seen").read_text().split())) > 5, "the second round repeats the first"
    assert "test_false failed in 2 rounds" in found.text()


def test_a_round_ends_with_the_test_it_is_at_when_the_time_is_over(project: Path) -> None:
    found = fuzz.Found()
    fuzz._round(["test_properties.py::test_sound", "test_properties.py::test_false"], time.time() - 1, found)
    assert (found.tests, found.broken) == (1, 0)


def test_a_round_that_cannot_be_run_is_no_success(project: Path) -> None:
    (project / "test_properties.py").write_text("import nothing_of_that_name")
    found = fuzz.Found()
    fuzz._round([], time.time() + 600, found)
    assert (found.broken, found.code) == (1, 2)


def test_every_machine_tries_the_same_examples(tmp_path: Path) -> None:
    """Neither a CI variable nor a database of examples that failed earlier changes what `make test` tries."""
    code = "from hypothesis import settings as s; from tests import conftest; d = s.default; import json\n"
    code += "print(json.dumps([d.derandomize, d.database, str(d.deadline), d.max_examples]))"
    found = []
    for variables in ({}, {"CI": "true", "GITHUB_ACTIONS": "true"}):
        env = {key: value for key, value in os.environ.items() if key != "CI"} | variables
        argv = [sys.executable, "-c", code]
        found.append(json.loads(subprocess.run(argv, cwd=_ROOT, env=env, capture_output=True, timeout=120).stdout))
    assert found[0] == found[1] == [True, None, "None", 25]


@pytest.mark.parametrize(("profile", "tried"), [("same everywhere", 3), ("fuzz", 80)])
def test_a_slow_property_has_all_of_its_examples_in_rounds_alone(profile: str, tried: int) -> None:
    before = settings.get_current_profile_name()
    settings.load_profile(profile)
    try:
        assert examples(3, fuzz=80) == tried
    finally:
        settings.load_profile(before)
