"""The examples in the docstrings of monitoring/core hold."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import monitoring.core

ROOT = Path(monitoring.core.__file__).parent
MODULES = sorted(
    ".".join(("monitoring", "core", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
    for path in ROOT.rglob("*.py")
    if ">>>" in path.read_text()
)


def test_there_are_examples():
    assert "monitoring.core.forecasting.mixture" in MODULES


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_hold(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
