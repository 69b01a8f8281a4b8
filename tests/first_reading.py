"""What pytest and Hypothesis make of files when they first read them, made once for all processes of a run.

pytest rewrites the asserts of tests, Hypothesis collects the constants of the portal's modules, and both keep the
result on the disk. In a fresh checkout the processes of a run, which all begin with reading everything, would each do
it for each file at the same time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import pytest
from _pytest.assertion import assertstate_key
from _pytest.assertion import rewrite as pytests
from hypothesis.internal import constants_ast

_CHECKOUT = Path(__file__).parents[1]
_PACKAGES = ("gridportal", "monitoring", "scheduling")


def pytest_xdist_setupnodes(config: pytest.Config, specs: Sequence[object]) -> None:
    """Before the processes of a run of all tests start. What a child that fails leaves undone each of them does when it
    comes to it."""
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    left_out = {Path(each).absolute() for each in config.getoption("ignore") or ()}
    tests = [file for file in _tests(_CHECKOUT / "tests") if left_out.isdisjoint(file.parents)]
    new = [file for file in tests if not _kept(file).exists()]
    count = os.cpu_count() or 1
    if len(new) > len(tests) // 2:
        modules = [file for package in _PACKAGES for file in (_CHECKOUT / package).rglob("*.py")]
        children = [_begin(config, new[place::count], modules[place::count]) for place in range(count)]
        for pid in children:
            os.waitpid(pid, 0)


def _tests(folder: Path) -> Iterator[Path]:
    yield from folder.rglob("test_*.py")
    yield from folder.rglob("conftest.py")


def _begin(config: pytest.Config, tests: Sequence[Path], modules: Sequence[Path]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        for file in tests:
            rewrite(config, file)
        for file in modules:
            collect_constants(file)
    finally:
        os._exit(0)


def _kept(file: Path) -> Path:
    """Where pytest looks for it."""
    return pytests.get_cache_dir(file) / (file.stem + pytests.PYC_TAIL)


def rewrite(config: pytest.Config, file: Path) -> None:
    """As pytest does when it imports a test."""
    if pytests.try_makedirs(_kept(file).parent):
        digest, code = pytests._rewrite_test(file, config)
        pytests._write_pyc(config.stash[assertstate_key], code, digest, _kept(file))


def collect_constants(file: Path) -> None:
    """As Hypothesis does with each module that is imported."""
    module = ModuleType(file.stem)
    module.__file__ = str(file)
    constants_ast.constants_from_module(module)
