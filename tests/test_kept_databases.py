"""Empty databases are made once for all runs, and anew when what makes them has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import kept_databases


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What `make` was asked for; all is kept in the test's own folder."""
    monkeypatch.setattr(kept_databases, "_KEPT", tmp_path / "var" / "tests")
    return []


def lay(folder: Path, made: list[Path], *more: str) -> str:
    def make(making: Path) -> None:
        made.append(making)
        making.mkdir()
        (making / "tables").write_text(f"{len(made)}")

    kept_databases.lay(folder, make, *more)
    return (folder / "tables").read_text()


def test_what_one_run_made_the_next_one_copies(tmp_path: Path, made: list[Path]) -> None:
    assert [lay(tmp_path / run / "empty.making", made) for run in ("first", "second")] == ["1", "1"]
    (tmp_path / "first" / "empty.making" / "tables").write_text("changed by a test")
    assert lay(tmp_path / "third" / "empty", made) == "1"
    assert len(made) == 1


def test_what_depends_on_something_else_is_made_anew_in_its_place(tmp_path: Path, made: list[Path]) -> None:
    assert lay(tmp_path / "a" / "empty", made, "PostgreSQL 15") == "1"
    assert lay(tmp_path / "b" / "empty", made, "PostgreSQL 16") == "2"
    assert lay(tmp_path / "b" / "other", made, "PostgreSQL 16") == "3"
    kept = [path.name.split("-")[0] for path in sorted((tmp_path / "var" / "tests").iterdir())]
    assert kept == ["empty", "empty.lock", "other", "other.lock"]


def test_what_a_killed_run_left_undone_is_not_taken(tmp_path: Path, made: list[Path]) -> None:
    undone = tmp_path / "var" / "tests" / "empty-making"
    undone.mkdir(parents=True)
    (undone / "log").touch()
    assert lay(tmp_path / "empty", made) == "1"
    assert [path.name for path in (tmp_path / "empty").iterdir()] == ["tables"]


def test_a_migration_a_model_a_field_and_what_a_migration_imports_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    checkout = Path(__file__).parents[1]
    for part in (
        "scheduling/migrations/0001_initial.py",
        "scheduling/migrations/_quick_columns.py",
        "scheduling/jobs/models.py",
        "scheduling/jobs/job_fields.py",
        "gridportal/web/search_index.py",
        "monitoring/history/core/blocks.py",
        "tests/migrated.py",
    ):
        assert checkout / part in kept_databases._makers()
    one = tmp_path / "0001_initial.py"
    keys = set()
    for text in ("a", "b", "b"):
        one.write_text(text)
        monkeypatch.setattr(kept_databases, "_makers", lambda: {one})
        keys.add(kept_databases._key())
    assert len(keys) == 2
