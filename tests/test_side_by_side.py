"""How all tests are run: what goes to one process, what begins first, and what a failure among real parts leads to."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests import side_by_side

_SCRIPT = Path(__file__).parents[1] / "scripts" / "test.sh"
_PLAIN = "def test_plain(): pass\n"
_REAL = """
import os, pathlib, pytest
pytestmark = pytest.mark.grid
def test_sound(): pathlib.Path("runs").open("a").write("x")
def test_other():
    here = pathlib.Path("failed")
    again = here.exists()
    here.touch()
    FATE
"""


def test_files_that_share_a_slurm_go_together_and_others_by_themselves() -> None:
    share = side_by_side.share_of
    assert share("tests/gridportal/testbed/slurm/test_jobs.py::test_a[x::y]") == "tests/gridportal/testbed/slurm/*.py"
    assert share("tests/gridportal/testbed/test_life.py::test_a") == "tests/gridportal/testbed/*.py"
    assert share("tests/browser/test_pages_in_a_browser.py") == share("tests/browser/test_people_in_a_browser.py")
    assert share("tests/browser/test_alerts_in_a_browser.py") == "tests/browser/*.py"
    assert share("tests/gridportal/slurm/test_samples.py::test_a") == share(
        "tests/gridportal/slurm/test_real_slurm.py::test_b"
    )
    assert share("tests/gridportal/serve/demo/test_demo.py::test_a") == "tests/gridportal/serve/demo/test_demo.py"


def test_the_longest_begin_first_then_others_with_real_parts_then_the_rest() -> None:
    real, plain = "tests/scheduling/runs/test_steps.py", "tests/test_names.py"
    long_real, long_plain = side_by_side._LONG_FIRST, side_by_side._LONG_PLAIN
    shares = [plain, real, *reversed(long_plain), *reversed(long_real)]
    assert sorted(shares, key=side_by_side.rank) == [*long_real, real, *long_plain, plain]
    assert sorted(shares, key=partial(side_by_side.rank, fills=True))[: len(long_plain) + 1] == [*long_plain, plain]


@pytest.mark.parametrize("share", side_by_side._LONG_FIRST)
def test_what_takes_longest_has_real_parts(share: str) -> None:
    assert side_by_side.has_real_parts(share)


@pytest.mark.parametrize("share", side_by_side._LONG_PLAIN)
def test_what_takes_longest_of_the_rest_has_none(share: str) -> None:
    assert not side_by_side.has_real_parts(share)


def test_every_share_that_is_named_exists() -> None:
    named = (*side_by_side._TOGETHER, *side_by_side._GUESTS, *side_by_side._NAMED)
    assert [name for name in named if not list(_SCRIPT.parents[1].glob(name))] == []


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with nothing but the script, this environment and a test of each sort."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(_SCRIPT, tmp_path / "scripts")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  grid\n  bench\n  slow\n")
    (tmp_path / "test_plain.py").write_text(_PLAIN)
    return tmp_path


def run(project: Path, *words: str, workers: int = 1) -> subprocess.CompletedProcess[str]:
    """The script with pytest and nothing else, which begins faster."""
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p xdist", "WORKERS": str(workers)}
    argv = ["sh", "scripts/test.sh", "grid", *words]
    return subprocess.run(argv, cwd=project, env=env, capture_output=True, text=True, timeout=150)


@pytest.mark.parametrize(
    ("fate", "code", "said", "runs"),
    [
        ("pass", 0, "", 1),
        ("assert again", 0, "FAILED ONCE, and passed alone", 1),
        ("assert False", 1, "FAILED TWICE", 1),
        pytest.param("pytest.exit('enough')", 2, "", None, marks=pytest.mark.slow),
        pytest.param(
            *("os._exit(3) if again else pytest.fail('first')", 3, "FAILED TWICE, or not run again", 1),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["passes", "fails once", "fails twice", "interrupts", "crashes then"],
)
def test_what_fails_among_real_parts_is_run_once_more_alone(
    project: Path, fate: str, code: int, said: str, runs: int | None
) -> None:
    (project / "test_real.py").write_text(_REAL.replace("FATE", fate))
    done = run(project)
    assert done.returncode == code, done.stdout
    assert ("####" in done.stdout) == bool(said)
    assert said in done.stdout
    if said:
        named = done.stdout.rpartition(said)[2]
        assert "test_real.py::test_other" in named
        assert "test_sound" not in named
    last = done.stdout.rstrip().rpartition("\n")[2]
    assert last.startswith(
        "make test: " if runs is None else "make test: without real parts: passed; with real parts: "
    )
    assert ("1 OF THEM ON THE SECOND TRY ONLY" in last) == said.startswith("FAILED ONCE")
    assert ("BROKE OFF" in last) == (code > 1)
    if runs is not None:
        assert (project / "runs").read_text() == "x" * runs, "what had passed was run again"


@pytest.mark.parametrize(
    ("fate", "told"),
    [pytest.param("pass", "", marks=pytest.mark.slow), ("assert again", "; 1 OF THEM ON THE SECOND TRY ONLY")],
)
def test_what_fails_without_real_parts_fails_the_run_and_has_no_second_try(project: Path, fate: str, told: str) -> None:
    (project / "test_plain.py").write_text("def test_plain():\n    open('tries', 'a').write('x')\n    assert False\n")
    (project / "test_real.py").write_text(_REAL.replace("FATE", fate))
    done = run(project)
    assert (done.returncode, (project / "runs").read_text(), (project / "tries").read_text()) == (1, "x", "x")
    assert f"make test: without real parts: FAILED; with real parts: passed{told}" in done.stdout
    assert "FAILED, without real parts ################\ntest_plain.py::test_plain\n###" in done.stdout


@pytest.mark.parametrize(("words", "ran"), [((), "plain real"), (("slow",), "slow")])
def test_slow_ones_are_run_by_themselves(project: Path, words: tuple[str, ...], ran: str) -> None:
    say = "    open('ran', 'a').write({!r})\n"
    marks = {"plain": "", "real": "@pytest.mark.grid\n", "slow": "@pytest.mark.grid\n@pytest.mark.slow\n"}
    for name, mark in marks.items():
        text = f"import pytest\n{mark}def test_it():\n{say.format(name + ' ')}"
        (project / f"test_{name}.py").write_text(text)
    done = run(project, *words)
    assert done.returncode == 0, done.stdout
    assert " ".join(sorted((project / "ran").read_text().split())) == ran


def test_a_file_that_cannot_be_read_fails_the_run(project: Path) -> None:
    (project / "test_real.py").write_text("import nothing_of_that_name")
    done = run(project)
    assert done.returncode != 0
    assert "passed" not in done.stdout.rstrip().rpartition("\n")[2]


def test_a_test_that_kills_its_process_fails_once_and_the_others_are_run(project: Path) -> None:
    shutil.copy(side_by_side.__file__, project / "side_by_side.py")
    (project / "conftest.py").write_text("from side_by_side import pytest_xdist_make_scheduler\n")
    (project / "test_deadly.py").write_text(
        "import os\ndef test_a(): pass\ndef test_b(): os._exit(1)\ndef test_c(): pass\n"
    )
    done = run(project, workers=2)
    assert done.returncode == 1
    assert "1 failed, 3 passed" in done.stdout
    assert "test_deadly.py::test_b" in done.stdout.rpartition("FAILED, without real parts")[2]
