"""Whatever a program leaves in its folder, the listing stays inside, opens no entry, and leaves no descriptor open."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gridportal.base.run_directory import RunFileError
from gridportal.base.run_listing import EntryKind, check_path, folder_use, list_folder


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    made = tmp_path / "run"
    (made / "out" / "deep").mkdir(parents=True)
    (made / "a.txt").write_text("hello")
    (made / "out" / "b.txt").write_text("b" * 100)
    return made


def kinds(directory: Path, path: str = "") -> dict[str, EntryKind]:
    return {entry.name: entry.kind for entry in list_folder(directory, path).entries}


def test_folders_come_first_and_everything_has_its_kind(directory):
    (directory / "link").symlink_to("/etc/passwd")
    (directory / "folder-link").symlink_to(directory.parent / "outside")
    (directory / "hard").hardlink_to(directory.parent / "outside" / "secret")
    os.mkfifo(directory / "pipe")
    (directory / "two\nlines <b>").write_text("")
    (directory / "depots.json").write_text("{}")
    assert next(iter(kinds(directory).items())) == ("out", EntryKind.FOLDER)
    assert kinds(directory) == {
        "out": EntryKind.FOLDER,
        "a.txt": EntryKind.FILE,
        "two\nlines <b>": EntryKind.FILE,
        "link": EntryKind.LINK,
        "folder-link": EntryKind.LINK,
        "hard": EntryKind.SECOND_NAME,
        "pipe": EntryKind.SPECIAL,
    }
    assert kinds(directory, "out") == {"deep": EntryKind.FOLDER, "b.txt": EntryKind.FILE}


@pytest.mark.parametrize(
    "path",
    ["..", "../outside", "out/../..", "out//deep", ".", "out/.", "a\0b", "depots.json", "x/" * 100, "y" * 5000],
)
def test_a_path_that_leads_elsewhere_is_refused(directory, path):
    with pytest.raises(RunFileError):
        check_path(path)
    with pytest.raises(RunFileError):
        list_folder(directory, path)


def test_no_link_is_followed_on_the_way_down(directory):
    (directory / "link").symlink_to(directory.parent / "outside")
    (directory / "out" / "up").symlink_to("..")
    for path in ("link", "out/up", "out/up/out", "a.txt", "none"):
        with pytest.raises(RunFileError):
            list_folder(directory, path)


def test_a_folder_that_was_replaced_by_a_link_is_not_listed(directory):
    directory.rename(directory.with_name("moved"))
    directory.symlink_to(directory.parent / "outside")
    with pytest.raises(RunFileError):
        list_folder(directory)
    with pytest.raises(RunFileError):
        folder_use(directory)


def test_use_counts_plain_files_inside_only(directory):
    (directory / "link").symlink_to(directory.parent / "outside")
    (directory / "depots.json").write_text("{}")  # a key, which the listing leaves out too
    use = folder_use(directory)
    assert (use.size, use.files, use.whole) == (105, 2, True)
    assert use.free > 0


def test_a_large_folder_is_cut(directory, monkeypatch):
    monkeypatch.setattr("gridportal.base.run_listing.MOST_SHOWN", 2)
    monkeypatch.setattr("gridportal.base.run_listing.MOST_COUNTED", 0)
    (directory / "c").write_text("")
    listing = list_folder(directory)
    assert (len(listing.entries), listing.left_out) == (2, 1)
    assert not folder_use(directory).whole


def test_no_descriptor_stays_open(directory):
    before = set(os.listdir("/proc/self/fd"))
    list_folder(directory, "out/deep")
    folder_use(directory)
    with pytest.raises(RunFileError):
        list_folder(directory, "out/none")
    assert set(os.listdir("/proc/self/fd")) == before


def test_folders_without_end_take_neither_the_stack_nor_descriptors(directory):
    at = os.open(directory, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    use = folder_use(directory)
    assert (use.files, use.whole) == (2, False)
    subprocess.run(["rm", "-rf", str(directory)], check=True)  # what removes it after the tests would go too deep


def test_folders_count_too_where_a_run_left_very_many(directory, monkeypatch):
    monkeypatch.setattr("gridportal.base.run_listing.MOST_COUNTED", 10)
    for number in range(12):
        (directory / f"empty-{number}").mkdir()
    assert not folder_use(directory).whole
