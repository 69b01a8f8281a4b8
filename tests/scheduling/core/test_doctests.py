"""The examples in the docstrings of scheduling/core hold."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = [
    "units",
    "shapes",
    "nas",
    "patterns",
    "symmetry",
    "packing",
    "selection",
    "safe_pattern",
    "last_words",
    "reasons",
    "trace",
    "trace_nodes",
    "profile_names",
    "profile_spread",
    "profile_traffic",
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_hold(name):
    result = doctest.testmod(importlib.import_module(f"scheduling.core.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
