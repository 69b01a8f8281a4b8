"""Which file a program goes on from: the newest whole one in its own folder, and never one outside of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scheduling.runs.core import restart_file
from scheduling.runs.core.restart_file import newest


def write(path: Path, size: int, at: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    os.utime(path, (at, at))
    return path


def name_of(folder: Path, pattern: str) -> str:
    found = newest(folder, pattern)
    return Path(found.path).name if found else ""


def test_the_newest_that_matches_counts(tmp_path: Path) -> None:
    for name, at in [("a.restart", 10), ("c.restart", 30), ("b.restart", 20), ("z.part", 40), ("zz", 50)]:
        write(tmp_path / name, 100, at)
    assert name_of(tmp_path, "*.restart") == "c.restart"
    assert name_of(tmp_path, "?.restart") == "c.restart"
    assert name_of(tmp_path, "a.restart") == "a.restart"
    assert name_of(tmp_path, "*.cpt") == ""


def test_of_one_time_the_last_name_counts(tmp_path: Path) -> None:
    for name in ("m.100", "m.200", "m.150"):
        write(tmp_path / name, 100, 10)
    assert name_of(tmp_path, "m.*") == "m.200"


@pytest.mark.parametrize("size", [0, 10, 499])
def test_one_that_was_cut_off_is_passed_over(tmp_path: Path, size: int) -> None:
    write(tmp_path / "old", 1000, 10)
    write(tmp_path / "new", size, 20)
    assert name_of(tmp_path, "*") == "old"


def test_smaller_ones_are_whole_all_the_same(tmp_path: Path) -> None:
    for at, size in enumerate([1000, 700, 500]):
        write(tmp_path / f"{at}", size, at)
    assert name_of(tmp_path, "*") == "2"


def test_an_empty_file_alone_is_nothing_to_go_on_from(tmp_path: Path) -> None:
    write(tmp_path / "new", 0, 20)
    assert name_of(tmp_path, "*") == ""


def test_patterns_name_folders_too(tmp_path: Path) -> None:
    write(tmp_path / "si_50.save" / "data.xml", 10, 10)
    write(tmp_path / "si_51.save" / "data.xml", 10, 20)
    write(tmp_path / "other" / "data.xml", 10, 30)
    found = newest(tmp_path, "si_*.save/data.xml")
    assert found is not None
    assert found.path == f"{tmp_path}/si_51.save/data.xml"


def test_nothing_outside_of_the_folder_counts(tmp_path: Path) -> None:
    secret = write(tmp_path / "secret" / "a.restart", 100, 50)
    folder = tmp_path / "folder"
    write(folder / "own.restart", 100, 10)
    (folder / "link.restart").symlink_to(secret)
    (folder / "below").symlink_to(secret.parent)
    (folder / "folder.restart").mkdir()
    os.mkfifo(folder / "pipe.restart")
    assert name_of(folder, "*.restart") == "own.restart"
    assert name_of(folder, "*/*.restart") == ""


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "real" / "a", 10, 10)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(OSError, match="link"):
        newest(tmp_path / "link", "*")


def test_a_name_that_cannot_be_told_to_a_program_does_not_count(tmp_path: Path) -> None:
    write(tmp_path / "a\nb", 10, 20)
    write(tmp_path / "plain", 10, 10)
    assert name_of(tmp_path, "*") == "plain"


def test_a_folder_that_is_not_there_has_nothing(tmp_path: Path) -> None:
    assert newest(tmp_path / "none", "*") is None


def test_nobody_looks_at_more_entries_than_there_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restart_file, "MOST_ENTRIES", 5)
    for at in range(6):
        write(tmp_path / f"{at}", 10, at)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match="more than 5 entries"):
        newest(tmp_path, "*")
    assert len(os.listdir("/proc/self/fd")) == before
