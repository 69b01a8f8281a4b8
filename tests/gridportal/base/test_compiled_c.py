"""What is compiled once is kept for the same compiler and text, and taken from nowhere that others may write to."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from gridportal.base import compiled_c

# "Compiles" what it is given into a copy, and notes that it was asked.
COMPILER = """#!/bin/sh
echo asked >> {log}
while [ "$1" != -o ]; do shift; done
/bin/cat "$3" > "$2"
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A text, with a compiler that counts, and a cache and a folder for temporary files of the test's own."""
    for name in ("programs", "scratch"):
        (tmp_path / name).mkdir()
    program = tmp_path / "programs" / "cc"
    program.write_text(COMPILER.format(log=tmp_path / "log"))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    text = tmp_path / "part.c"
    text.write_text("first")
    return text


def compilations(tmp_path: Path) -> int:
    log = tmp_path / "log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def put(source: Path, name: str = "made", flags: tuple[str, ...] = ("-O2",)) -> str:
    target = source.with_name(name)
    compiled_c.put(target, [source], flags)
    assert target.stat().st_mode & 0o777 == 0o755
    return target.read_text()


def test_the_same_text_is_compiled_once(source: Path, tmp_path: Path) -> None:
    assert [put(source), put(source, "again")] == ["first", "first"]
    assert compilations(tmp_path) == 1


def test_another_text_compiler_or_flag_is_another_file(source: Path, tmp_path: Path) -> None:
    put(source)
    source.write_text("second")
    assert put(source) == "second"
    put(source, flags=("-O1",))
    with (tmp_path / "programs" / "cc").open("a") as program:
        program.write("# a newer one\n")
    put(source)
    assert compilations(tmp_path) == 4
    assert len(list((tmp_path / "cache" / "gridportal").iterdir())) == 4


def test_nothing_is_taken_from_a_folder_or_file_of_others(source: Path, tmp_path: Path) -> None:
    put(source)
    (kept,) = (tmp_path / "cache" / "gridportal").iterdir()
    kept.write_text("something else")
    kept.chmod(0o777)
    assert put(source) == "first"
    with pytest.raises(OSError, match="others may write to"):
        compiled_c.kept([source], (), ("-O2",), "")
    kept.parent.chmod(0o777)
    assert put(source) == "first"  # kept in the other folder, which is ours
    (private,) = (path for path in (tmp_path / "scratch").iterdir() if path.name.startswith("gridportal-"))
    private.chmod(0o777)
    with pytest.raises(OSError, match="no folder"):
        compiled_c.kept([source], (), ("-O2",), "")
    assert put(source) == "first"


def test_without_a_compiler_a_kept_one_does_and_nothing_is_put(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = compiled_c.kept([source], (), ("-O2",), ".so")
    monkeypatch.setenv("PATH", str(tmp_path / "scratch"))
    assert compiled_c.kept([source], (), ("-O2",), ".so") == kept
    for ask in (lambda: compiled_c.kept([source], (), ("-O1",), ".so"), lambda: put(source)):
        with pytest.raises(OSError, match="no C compiler"):
            ask()
