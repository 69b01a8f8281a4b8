"""A file is written aside and renamed: whole or not at all, with its mode, through no link."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from gridportal.base import atomic_file


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.mark.parametrize(("content", "expected"), [("naïve\n", "naïve\n".encode()), (b"\x00\xff", b"\x00\xff")])
def test_text_and_bytes_are_there_and_nothing_else(tmp_path, content, expected):
    atomic_file.write(tmp_path / "file", content)

    assert (tmp_path / "file").read_bytes() == expected
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize(("mode", "expected"), [(None, 0o640), (0o600, 0o600), (0o755, 0o755), (0o444, 0o444)])
def test_the_mode_is_the_one_given_else_the_umask_decides(tmp_path, umask, mode, expected):
    atomic_file.write(tmp_path / "file", "text", mode=mode)

    assert (tmp_path / "file").stat().st_mode & 0o777 == expected


def test_a_link_with_the_files_name_is_replaced_not_followed(tmp_path):
    (tmp_path / "secret").write_text("kept")
    (tmp_path / "file").symlink_to(tmp_path / "secret")

    atomic_file.write(tmp_path / "file", "new")

    assert (tmp_path / "secret").read_text() == "kept"
    assert not (tmp_path / "file").is_symlink()
    assert (tmp_path / "file").read_text() == "new"


def test_a_folder_that_is_a_link_is_written_to(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    atomic_file.write(tmp_path / "link" / "file", "text")

    assert (tmp_path / "real" / "file").read_text() == "text"


def test_the_name_alone_is_a_file_of_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    atomic_file.write(Path("file"), "text")

    assert (tmp_path / "file").read_text() == "text"


def test_what_cannot_be_renamed_leaves_nothing_and_changes_nothing(tmp_path):
    (tmp_path / "folder").mkdir()

    with pytest.raises(IsADirectoryError):
        atomic_file.write(tmp_path / "folder", "text")
    assert os.listdir(tmp_path) == ["folder"]


def test_what_cannot_be_encoded_leaves_the_old_file(tmp_path):
    (tmp_path / "file").write_text("old")

    with pytest.raises(UnicodeEncodeError):
        atomic_file.write(tmp_path / "file", "\ud800")
    assert (tmp_path / "file").read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        atomic_file.write(tmp_path / "none" / "file", "text")


def test_no_descriptor_stays_open(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        atomic_file.write(tmp_path / "file", "text")

    assert len(os.listdir("/proc/self/fd")) == before


def test_readers_never_see_half_a_file_while_several_write_it(tmp_path):
    file = tmp_path / "file"
    texts = [letter * 200_000 for letter in "abc"]
    atomic_file.write(file, texts[0])
    writers = [threading.Thread(target=lambda t=t: [atomic_file.write(file, t) for _ in range(30)]) for t in texts]
    for writer in writers:
        writer.start()
    seen = set()
    while any(writer.is_alive() for writer in writers):
        seen.add(file.read_text())
    for writer in writers:
        writer.join()

    assert seen <= set(texts)
    assert os.listdir(tmp_path) == ["file"]


def test_a_synced_file_is_on_the_disk_whole_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[int, bool]] = []
    monkeypatch.setattr(
        os, "fsync", lambda number: synced.append((os.fstat(number).st_size, (tmp_path / "a").exists()))
    )
    atomic_file.write(tmp_path / "a", "plain")
    assert synced == []
    (tmp_path / "a").unlink()
    atomic_file.write(tmp_path / "a", "synced", synced=True)
    assert synced == [(len("synced"), False)]
