"""Whatever lies in a run directory, reading it ends at once in bytes or in a sentence, and no descriptor stays open."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from gridportal.base import run_directory, run_files
from gridportal.base.run_directory import ExitRecord, Fault, RunFileError


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    made = tmp_path / "runs" / "job-1"
    made.mkdir(parents=True)
    return made


def open_descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


def place(path: Path, kind: str) -> None:
    """Something of a kind that no reader expects, at `path`."""
    outside = path.parent.parent.parent / "outside"
    outside.write_text("secret")
    if kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    elif kind == "hard link":
        path.hardlink_to(outside)
    else:
        path.symlink_to({"link": outside, "device": "/dev/zero", "loop": path}[kind])


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("directory", Fault.DIRECTORY),
        ("pipe", Fault.SPECIAL),
        ("socket", Fault.SPECIAL),
        ("hard link", Fault.SECOND_NAME),
        ("link", Fault.LINK),
        ("device", Fault.LINK),
        ("loop", Fault.LINK),
    ],
)
@pytest.mark.parametrize("name", ["exit.json", "output.log", "trace/rank-0.json"])
def test_only_plain_files_are_opened(directory: Path, name: str, kind: str, fault: Fault) -> None:
    (directory / name).parent.mkdir(exist_ok=True)
    place(directory / name, kind)
    before = open_descriptors()
    with pytest.raises(RunFileError) as caught:
        run_directory.read_part(directory, name, 0, 100)
    assert (caught.value.fault, caught.value.file) == (fault, name)
    assert str(caught.value).startswith(f"{name} ")
    assert open_descriptors() == before


def test_a_folder_that_is_a_link_leads_nowhere(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "rank-0.json").write_text("{}")
    (directory / "trace").symlink_to(tmp_path)
    with pytest.raises(RunFileError, match="its folder is a link"):
        run_directory.read_json(directory, "trace/rank-0.json", 100)


def test_a_run_directory_that_is_gone_or_a_link_by_now_is_said_so(directory: Path, tmp_path: Path) -> None:
    directory.rmdir()
    assert run_directory.first_fault(directory) is not None
    (tmp_path / "output.log").write_text("of somebody else")
    directory.symlink_to(tmp_path)
    with pytest.raises(RunFileError, match="the run directory is gone or was replaced"):
        run_directory.read_part(directory, "output.log", 0, 100)
    assert run_directory.last_lines(directory) == []


@pytest.mark.parametrize("name", ["a" * 256, f"{'a' * 300}/b", f"b/{'a' * 300}"])
def test_no_file_has_a_name_that_is_too_long(directory: Path, name: str) -> None:
    (directory / "b").mkdir()
    assert run_directory.open_plain(directory, name) is None


def test_files_that_are_not_there_are_empty(directory: Path) -> None:
    assert run_directory.open_plain(directory, "output.log") is None
    assert run_directory.read_part(directory, "trace/rank-0.json", 0, 10).data == b""
    assert run_directory.exit_record(directory) is None
    assert run_directory.first_fault(directory) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 4000, "exit.json cannot be read: it is nested more than 64 levels deep."),
        ('{"exit_code": ' + "[" * 500 + "]" * 500 + "}", "nested more than 64 levels deep"),
        ('{"exit_code": 1e400}', "the number 1e400 is too large"),
        ('{"exit_code": Infinity}', "Infinity is no number of JSON"),
        (f'{{"exit_code": {2**70}}}', "holds no exit_code from 0 to 255"),
        ('{"exit_code": -1}', "holds no exit_code"),
        ('{"exit_code": "0"}', "holds no exit_code"),
        ('{"exit_code": true}', "holds no exit_code"),
        ('{"exit_code": null}', "holds no exit_code"),
        ('{"exit_code": 0.0}', "holds no exit_code"),
        ('{"exit_code": 0, "ended_at": 1e300}', "an ended_at that is no time"),
        ("[0]", "holds no exit record"),
        ("oops", "cannot be read: line 1, column 1"),
        ('{"exit_code": 0}' + " " * 5000, "is larger than 4096 bytes"),
        ('{"exit_code": 0, "a": "\\ud800"}', "half a letter"),
    ],
)
def test_an_exit_record_that_is_none_is_said_so(directory: Path, text: str, said: str) -> None:
    (directory / "exit.json").write_text(text)
    with pytest.raises(RunFileError) as caught:
        run_directory.exit_record(directory)
    assert said in str(caught.value)
    assert str(run_directory.first_fault(directory)) == str(caught.value)


def test_an_exit_record_is_read(directory: Path) -> None:
    (directory / "exit.json").write_text('{"exit_code": 3, "ended_at": 1790000000.25}')
    assert run_directory.exit_record(directory) == ExitRecord(3, 1790000000.25)
    (directory / "exit.json").write_text("")  # a disk that was full
    assert run_directory.exit_record(directory) is None


def test_a_huge_file_costs_what_is_asked_of_it(directory: Path) -> None:
    with (directory / "output.log").open("wb") as file:
        file.truncate(2**40)
        file.seek(0, os.SEEK_END)
        file.write(b"\nthe end\n")
    part = run_directory.read_part(directory, "output.log", None, 100)
    assert (len(part.data), part.size) == (100, 2**40 + 9)
    assert run_directory.last_lines(directory)[-1] == "the end"


@pytest.mark.parametrize("fault", Fault)
def test_a_fault_is_kept_and_told_again_alike(fault: Fault) -> None:
    error = RunFileError("exit.json", fault, "some detail.")
    again = RunFileError.from_document(error.as_document())
    assert (str(again), again.fault) == (str(error), fault)
    assert not str(error).endswith("..")


def test_a_file_is_written_beside_what_a_program_has_put_in_its_way(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("kept", encoding="utf-8")
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    for name in (run_files.SCRIPT, f"{run_files.SCRIPT}.{os.getpid()}.part"):
        (run_dir / name).symlink_to(secret)
    run_directory.prepare(run_dir, "true\n")
    assert secret.read_text(encoding="utf-8") == "kept"
    assert not (run_dir / run_files.SCRIPT).is_symlink()
    assert (run_dir / run_files.SCRIPT).read_text(encoding="utf-8") == "true\n"
    assert (run_dir / run_files.SCRIPT).stat().st_mode & 0o777 == 0o755


def test_a_directory_that_was_replaced_by_a_link_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"Not a directory|symbolic"):
        run_directory.write(tmp_path / "run", run_files.SCRIPT, "true\n")
    assert not list((tmp_path / "elsewhere").iterdir())
