"""The state of a Grid, with the warning that every page has to say plainly."""

from __future__ import annotations

from typing import Any

from gridportal.testbed import gridd_requests
from gridportal.testbed.sandbox.level import Isolation
from gridportal.testbed.state import State


def of(state: State) -> dict[str, Any]:
    """topology, mode, warning, isolation, self_test, up_since, nodes, runs, traffic, load. Raises BackendError."""
    record = state.record() or {}
    status: dict[str, Any] = gridd_requests.ask(state, "status")
    return {**status, "warning": _warning(record.get("warning"), status["self_test"], status.get("isolation"))}


def _warning(recorded: str | None, test: dict[str, Any], isolation: dict[str, str] | None) -> str | None:
    """What every page has to say plainly: that nothing is shaped, or what leaks, or that jobs are not kept apart."""
    found = [recorded or (test["message"] if test["state"] == "failed" else "")]
    found += [isolation["message"]] if isolation and isolation["level"] == Isolation.NONE else []
    return " ".join(filter(None, found)) or None
