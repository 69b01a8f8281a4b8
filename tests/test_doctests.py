"""The examples in all docstrings hold."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for top in ("gridportal", "monitoring", "scheduling")
    for path in (ROOT / top).rglob("*.py")
    if ">>> " in path.read_text()
)


def test_there_are_examples() -> None:
    assert {"gridportal.network.topology", "monitoring.forecasting.core.forecasting.mixture"} < set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_hold(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
