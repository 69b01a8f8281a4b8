"""What C copies is what numpy copies; and it is compiled once, safely, or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.runtime.srs import compiled_copy, layouts
from gridportal.runtime.srs.compiled_copy import CopyKind
from gridportal.runtime.srs.layouts import Layout
from gridportal.runtime.srs.redistribution import Redistribution
from tests.examples import examples
from tests.gridportal.runtime.srs.ways import SHAPES, local, ways
from tests.scheduling.profiles.tracing.conftest import need

TYPES = st.sampled_from(["f8", "i4", "c16", "u1", "S3"])
ASK = "from gridportal.runtime.srs import compiled_copy; print(compiled_copy.kind().value)"


@pytest.fixture(scope="module")
def compiler() -> str:
    return need("cc")


@given(st.data(), SHAPES, TYPES)
@settings(max_examples=examples(41, fuzz=200))
def test_every_rank_gets_the_same_bits(compiler: str, data: Any, shape: tuple[int, ...], kind: str) -> None:
    old, new = data.draw(ways(shape)), data.draw(ways(shape))
    whole = np.arange(np.prod(shape, dtype=int)).astype(kind).reshape(shape)
    way = Redistribution(old, new, shape)
    for target in range(new.ranks):
        into = np.zeros(new.local_shape(shape, target), whole.dtype)
        with mock.patch.object(compiled_copy, "WORTH", 0):
            used = way.fill(lambda source: local(old, whole, source), target, into)
        assert used is (CopyKind.COMPILED if into.size else CopyKind.NUMPY)
        assert into.tobytes() == local(new, whole, target).tobytes()


@pytest.mark.parametrize(
    "texts",
    [
        "block:4 block:3",
        "cyclic:3 block:2",
        "cyclic:4 block:3",
        "block-cyclic:4:4 block-cyclic:8:3",
        "block-cyclic:64:4 block-cyclic:96:2",
        "block-cyclic:1000:4 cyclic:2",
        "block-cyclic:64x64:2x2 block-cyclic:32x100:1x2",
        "cyclic:2x2 block:2",
        "replicated:3 block-cyclic:7:2",
    ],
)
@pytest.mark.parametrize("shape", [(2_000_003,), (1500, 1501)])
def test_large_arrays_that_are_written_past_the_caches_too(compiler: str, texts: str, shape: tuple[int, ...]) -> None:
    old, new = (layouts.parsed(text) for text in texts.split())
    if max(len(old.grid), len(new.grid)) > len(shape):
        shape = (1500, 1501)
    whole = np.random.default_rng(1).random(shape)
    way = Redistribution(old, new, shape)
    held = {source: by_numpy(old, whole, source) for source in range(old.ranks)}
    wanted = by_numpy(new, whole, 0)
    for offset in (0, 1, 5):  # lines of memory begin and end within runs
        room = np.full(wanted.size + 10, -1.0)
        into = room[offset : offset + wanted.size].reshape(wanted.shape)
        with mock.patch.object(compiled_copy, "WORTH", 0):
            assert way.fill(held.__getitem__, 0, into) is CopyKind.COMPILED
        assert np.array_equal(into, wanted)
        assert (room[:offset] == -1).all()
        assert (room[offset + wanted.size :] == -1).all()


def by_numpy(layout: Layout, whole: np.ndarray, rank: int) -> np.ndarray:
    into = np.zeros(layout.local_shape(whole.shape, rank))
    Redistribution(layouts.replicated(1), layout, whole.shape).copy(0, whole, rank, into)
    return into


def kinds(count: int, **variables: str) -> list[str]:
    """What so many processes at once say of who copies."""
    environment = {**os.environ, **variables}
    processes = [
        subprocess.Popen([sys.executable, "-c", ASK], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(count)
    ]
    return [process.communicate(timeout=120)[0].strip() for process in processes]


def test_processes_that_begin_together_compile_one_file(compiler: str, tmp_path: Path) -> None:
    assert kinds(3, XDG_CACHE_HOME=str(tmp_path)) == ["compiled"] * 3
    assert len(list((tmp_path / "gridportal").iterdir())) == 1
    assert kinds(1, XDG_CACHE_HOME=str(tmp_path), PATH="") == ["compiled"]  # it is there


def test_without_a_compiler_numpy_copies(tmp_path: Path) -> None:
    assert kinds(1, XDG_CACHE_HOME=str(tmp_path), PATH=str(tmp_path)) == ["numpy"]


def test_a_compiler_that_fails_leaves_it_to_numpy(tmp_path: Path) -> None:
    (tmp_path / "cc").write_text("#!/bin/sh\necho no >&2\nexit 3\n")
    (tmp_path / "cc").chmod(0o755)
    assert kinds(1, XDG_CACHE_HOME=str(tmp_path / "cache"), PATH=str(tmp_path)) == ["numpy"]
    assert list((tmp_path / "cache" / "gridportal").iterdir()) == []


def test_nothing_is_loaded_from_where_others_may_write(compiler: str, tmp_path: Path) -> None:
    cache, scratch = tmp_path / "cache", tmp_path / "scratch"
    (cache / "gridportal").mkdir(parents=True)
    (cache / "gridportal").chmod(0o777)
    scratch.mkdir()
    assert kinds(1, XDG_CACHE_HOME=str(cache), TMPDIR=str(scratch)) == ["compiled"]
    assert list((cache / "gridportal").iterdir()) == []
    (built,) = (scratch / f"gridportal-{os.geteuid()}").iterdir()
    built.chmod(0o777)
    assert kinds(1, XDG_CACHE_HOME=str(cache), TMPDIR=str(scratch)) == ["numpy"]
