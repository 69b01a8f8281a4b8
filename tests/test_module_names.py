"""A module's name tells where it is: no two modules of one app have the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
APPS = ("gridportal", "monitoring", "scheduling")
# Python's and Django's own names, and the rooms that a capability may have (CONTRIBUTING.md).
ROOMS = {
    *("__init__", "__main__", "admin", "apps", "forms", "models", "rules", "serializers", "urls"),
    *("api", "commands", "selectors", "services", "tasks", "views"),
}
# The fixed parts of an experiment's folder.
PARTS = {"measurement", "paper", "report"}


def repeated(every: Iterable[Path]) -> list[list[str]]:
    """Modules that share a name, in groups."""
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    for module in every:
        if module.stem not in ROOMS and not (module.stem in PARTS and module.parent.parent.name == "experiments"):
            by_name[module.stem].append(module.as_posix())
    return [sorted(modules) for _, modules in sorted(by_name.items()) if len(modules) > 1]


def modules_of(app: str) -> list[Path]:
    every = (file.relative_to(ROOT) for file in (ROOT / app).rglob("*.py"))
    return [module for module in every if "migrations" not in module.parts]


@pytest.mark.parametrize("app", APPS)
def test_no_two_modules_of_an_app_have_one_name(app: str) -> None:
    assert repeated(modules_of(app)) == []


def test_rooms_and_parts_of_experiments_may_be_repeated() -> None:
    fine = [
        "a/b/models.py",
        "a/c/models.py",
        "gridportal/experiments/x/report.py",
        "gridportal/experiments/y/report.py",
    ]
    assert repeated(map(Path, fine)) == []
    assert repeated(map(Path, ["a/b/health.py", "a/c/health.py", "a/report.py"])) == [
        ["a/b/health.py", "a/c/health.py"]
    ]
