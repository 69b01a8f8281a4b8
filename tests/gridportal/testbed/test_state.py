"""Clearing a Grid's folder: one at a time, and nobody waits for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from gridportal.base.errors import BackendError
from gridportal.testbed import state as module
from gridportal.testbed.state import State


def test_who_clears_a_grid_that_another_clears_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CLEARING", 0.0)
    first = State(tmp_path).exclusive()
    with first, pytest.raises(BackendError, match="Another command has been clearing"), State(tmp_path).exclusive():
        pass
    with State(tmp_path).exclusive():
        assert (tmp_path / "up.lock").exists()
