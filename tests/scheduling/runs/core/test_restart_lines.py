"""A script that is started again takes the newest file that is whole, as `restart_file.newest` does."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling.runs.core import restart_file, restart_lines
from scheduling.runs.core.restart_lines import RestartArguments
from tests.examples import examples

NAMES = ["melt.1.restart", "melt.2.restart", "a b.restart", ".hidden.restart", "other", "{name}.restart", "&.restart"]
FILES = st.dictionaries(st.sampled_from(NAMES), st.tuples(st.integers(0, 9), st.integers(0, 40)), max_size=5)


def words(folder: Path, pattern: str, *, again: bool) -> list[str]:
    """What the program of the script gets."""
    restart = RestartArguments(("-r", "as chosen"), ("-r", "{file}", "--name={name}"), str(folder), pattern)
    text = f"set -u\n{restart_lines.lines(restart)}\nprintf '%s\\0' begin {restart_lines.ARGUMENTS} end"
    env = {"PATH": os.environ["PATH"], **({"SLURM_RESTART_COUNT": "1"} if again else {})}
    done = subprocess.run(["bash", "-c", text], check=True, capture_output=True, text=True, env=env)
    return done.stdout.split("\0")[1:-2]


@settings(max_examples=examples(8, fuzz=60), deadline=None)
@given(files=FILES)
def test_it_is_the_file_that_the_portal_would_take(tmp_path_factory: pytest.TempPathFactory, files: dict) -> None:
    folder = tmp_path_factory.mktemp("a folder") / "it's [odd]"
    folder.mkdir()
    for name, (at, size) in files.items():
        (folder / name).write_bytes(b"x" * size)
        os.utime(folder / name, (1_700_000_000 + at, 1_700_000_000 + at))
    newest = restart_file.newest(folder, "*.restart")
    expected = ["-r", newest.path, f"--name={newest.name}"] if newest else []
    if newest and "{name}" in newest.path:
        expected[1] = newest.path.replace("{name}", newest.name)
    assert words(folder, "*.restart", again=True) == expected


def test_the_first_attempt_has_the_words_that_the_portal_chose(tmp_path: Path) -> None:
    (tmp_path / "a.restart").write_text("x")
    assert words(tmp_path, "*.restart", again=False) == ["-r", "as chosen"]


def test_folders_of_the_pattern_count_and_links_do_not(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"si_{number}.save" / "deep").mkdir(parents=True)
        (tmp_path / f"si_{number}.save" / "deep" / "data.xml").write_text("x")
    (tmp_path / "si_1.save" / "data.xml").write_text("x")
    (tmp_path / "si_2.save" / "data.xml").symlink_to(tmp_path / "si_1.save" / "data.xml")
    file = tmp_path / "si_1.save" / "data.xml"
    assert words(tmp_path, "si_*.save/data.xml", again=True) == ["-r", str(file), "--name=data.xml"]


def test_a_folder_that_is_not_there_starts_the_program_from_the_beginning(tmp_path: Path) -> None:
    assert words(tmp_path / "gone", "*.restart", again=True) == []
