"""What libraries import only for those who have it: left out where the portal has no use for it."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

from gridportal.web import lean_imports

_ASKS = """
try:
    import made_up_help
except ImportError:
    made_up_help = None
"""


@pytest.fixture(autouse=True)
def made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two modules, of which one uses the other where it is installed."""
    (tmp_path / "made_up_asks.py").write_text(_ASKS, encoding="utf-8")
    (tmp_path / "made_up_help.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(lean_imports.WITHOUT, "made_up_asks", ("made_up_help",))
    for name in ("made_up_asks", "made_up_help"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    lean_imports.begin()


def test_it_is_left_out_and_others_import_it_as_ever() -> None:
    assert import_module("made_up_asks").made_up_help is None
    assert import_module("made_up_help").__name__ == "made_up_help"


def test_what_is_imported_by_now_stays() -> None:
    there = import_module("made_up_help")
    assert import_module("made_up_asks").made_up_help is there


def test_once_is_enough() -> None:
    lean_imports.begin()
    assert sum(isinstance(finder, lean_imports._Lean) for finder in sys.meta_path) == 1
