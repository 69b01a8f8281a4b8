"""What is made of files before the processes of a run start is what pytest and Hypothesis look for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis.configuration import storage_directory
from hypothesis.internal import constants_ast

from tests import first_reading


def test_pytest_takes_the_asserts_that_were_rewritten(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    file = tmp_path / "test_it.py"
    file.write_text("def test_it():\n    assert [1] == [2]\n", encoding="utf-8")
    first_reading.rewrite(pytestconfig, file)
    (kept,) = (tmp_path / "__pycache__").iterdir()
    made = kept.stat().st_ino
    argv = [sys.executable, "-m", "pytest", "-q", str(file)]
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=100)
    assert "At index 0 diff: 1 != 2" in done.stdout
    assert kept.stat().st_ino == made, "it was rewritten again"


def test_hypothesis_takes_the_constants_that_were_collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants_ast, "storage_directory", lambda name: storage_directory(str(tmp_path), name))
    file = tmp_path / "module.py"
    file.write_text("LIMIT = 123456\n", encoding="utf-8")
    first_reading.collect_constants(file)
    (kept,) = (tmp_path / "constants").iterdir()
    assert "123456" in kept.read_text(encoding="utf-8").splitlines()[-1]
