"""What C reads of a checkpoint is what Python reads, bit for bit; and no bytes of a manifest end it otherwise than with
a sentence. It runs with the sanitizers of addresses and of undefined behaviour."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gridportal.base import bounded_json
from gridportal.base import processes as shell
from gridportal.runtime.depot import depot_access
from gridportal.runtime.depot.depot_access import DepotAccess
from gridportal.runtime.depot.depot_client import Depots
from gridportal.runtime.srs import checkpoint_files, compiled_copy, layouts
from gridportal.runtime.srs.checkpoint_manifest import BadCheckpointError, Shard, StoredArray
from gridportal.runtime.srs.layouts import Layout
from gridportal.runtime.srs.library import building
from tests.examples import examples
from tests.gridportal.runtime.depot.depots import MASTER, depot
from tests.gridportal.runtime.srs.ways import SHAPES, local, ways
from tests.scheduling.profiles.tracing.conftest import need

TYPES = st.sampled_from(["f8", "i4", "c16", "u1", "S3"])
#: What reads without MPI.
PARTS = (
    *("at_once", "checkpoint", "depot_access", "depot_client", "depot_wire", "files", "json", "layout_reading"),
    *("layout_writing", "layouts"),
    *(
        "checkpoint_names",
        "manifest_reading",
        "manifest_writing",
        "message",
        "overlaps",
        "part_places",
        "redistribution",
        "sha256",
        "shard_depots",
    ),
    *("shard_files", "slabs", "text", "types", "verification"),
    *compiled_copy.PARTS,
)
CHECKS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
WIDE = settings(max_examples=examples(41, fuzz=200), suppress_health_check=[HealthCheck.function_scoped_fixture])


class Reader:
    """The reader in C, which answers one line to one line."""

    def __init__(self, program: Path, **variables: str) -> None:
        self.process = subprocess.Popen(
            [str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | variables
        )

    def __call__(self, *words: Any) -> str:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "it has ended"
        return answer.strip()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program, here = tmp_path_factory.mktemp("reader") / "reader", Path(__file__).parent
    sources = [here / "reader.c", *(building.SOURCES / f"{name}.c" for name in PARTS)]
    words = [need("gcc"), "-std=c99", "-g", "-O0", "-pthread", *CHECKS, f"-I{building.SOURCES}", "-o", str(program)]
    shell.run([*words, *map(str, sources)], timeout=300)
    return program


@contextmanager
def started(program: Path, **variables: str) -> Iterator[Reader]:
    reader = Reader(program, **variables)
    yield reader
    assert reader.process.stdin
    reader.process.stdin.close()
    assert reader.process.wait(timeout=240) == 0  # no leak either


@pytest.fixture(scope="module")
def reader(program: Path) -> Iterator[Reader]:
    with started(program) as reader:
        yield reader


@pytest.fixture(scope="module")
def access(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DepotAccess]:
    """To one depot, of node n1."""
    with depot(tmp_path_factory.mktemp("depot")) as address:
        yield depot_access.issued(MASTER, "7", {"n1": "{}:{}".format(*address)})


@pytest.fixture(scope="module")
def reader_with_depots(
    program: Path, access: DepotAccess, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reader]:
    file = tmp_path_factory.mktemp("access") / "depots.json"
    depot_access.write(file, access)
    with started(program, **{depot_access.VARIABLE: str(file)}) as reader:
        yield reader


def write(folder: Path, whole: np.ndarray, layout: Layout) -> None:
    checkpoint_files.begin(folder, 1)
    ranks = range(layout.ranks if layout.dealings else 1)
    shards = tuple(checkpoint_files.write_shard(folder, 1, 0, rank, local(layout, whole, rank)) for rank in ranks)
    checkpoint_files.complete(
        folder, 1, layout.ranks, 0.0, [StoredArray("x", whole.dtype, whole.shape, layout, shards)]
    )


@given(st.data(), SHAPES, TYPES)
@settings(WIDE, max_examples=examples(21, fuzz=100))
def test_every_rank_gets_the_same_bits(reader: Reader, data: Any, shape: tuple[int, ...], kind: str) -> None:
    old, new = data.draw(ways(shape)), data.draw(ways(shape))
    whole = np.arange(np.prod(shape, dtype=int)).astype(kind).reshape(shape)
    with tempfile.TemporaryDirectory() as scratch, mock.patch("os.fsync"):
        folder, output = Path(scratch, "x"), Path(scratch, "output")
        write(folder, whole, old)
        for rank in range(new.ranks):
            assert reader("read", folder, 1, "x", rank, output, json.dumps(layouts.dump(new))) == "ok"
            assert output.read_bytes() == local(new, whole, rank).tobytes()


def put(folder: Path, access: DepotAccess, whole: np.ndarray, layout: Layout) -> None:
    """The same in the depot only."""
    token, depots, shards = secrets.token_hex(8), Depots(access), []
    checkpoint_files.begin(folder, 1)
    for rank in range(layout.ranks if layout.dealings else 1):
        held = np.ascontiguousarray(local(layout, whole, rank))
        content = memoryview(held.tobytes())
        checksum = depots.put("n1", f"{token}-0-{rank}", content)
        shards.append(Shard(rank, None, len(content), checksum, ("n1",)))
    stored = StoredArray("x", whole.dtype, whole.shape, layout, tuple(shards))
    checkpoint_files.complete(folder, 1, layout.ranks, 0.0, [stored], token)


@given(st.data(), SHAPES, TYPES)
@settings(WIDE, max_examples=40)
def test_every_rank_gets_the_same_bits_from_a_depot(
    reader_with_depots: Reader, access: DepotAccess, data: Any, shape: tuple[int, ...], kind: str
) -> None:
    old, new = data.draw(ways(shape)), data.draw(ways(shape))
    whole = np.arange(np.prod(shape, dtype=int)).astype(kind).reshape(shape)
    with tempfile.TemporaryDirectory() as scratch, mock.patch("os.fsync"):
        folder, output = Path(scratch, "x"), Path(scratch, "output")
        put(folder, access, whole, old)
        for rank in range(new.ranks):
            assert reader_with_depots("read", folder, 1, "x", rank, output, json.dumps(layouts.dump(new))) == "ok"
            assert output.read_bytes() == local(new, whole, rank).tobytes()


@pytest.mark.parametrize("texts", ["block:2 block:3", "block-cyclic:64:4 block-cyclic:128:6", "cyclic:3 block:2"])
def test_requests_to_a_depot_are_cut_where_they_are_long(
    reader_with_depots: Reader, access: DepotAccess, tmp_path: Path, texts: str
) -> None:
    old, new = (layouts.parsed(text) for text in texts.split())
    whole = np.arange(700_001.0)
    put(tmp_path / "x", access, whole, old)
    for rank in (0, new.ranks - 1):
        output, layout = tmp_path / "output", json.dumps(layouts.dump(new))
        assert reader_with_depots("read", tmp_path / "x", 1, "x", rank, output, layout) == "ok"
        assert output.read_bytes() == local(new, whole, rank).tobytes()


@pytest.mark.parametrize(
    "texts",
    [
        "block:4 cyclic:3",
        "cyclic:4 block-cyclic:64:6",
        "block-cyclic:64:4 block-cyclic:128:6",
        "shares:1,9999,5000 cyclic:2",
    ],
)
def test_long_arrays_whose_pieces_repeat_too(reader: Reader, tmp_path: Path, texts: str) -> None:
    old, new = (layouts.parsed(text) for text in texts.split())
    whole = np.arange(15000.0)
    write(tmp_path / "x", whole, old)
    for rank in range(new.ranks):
        output = tmp_path / "output"
        assert reader("read", tmp_path / "x", 1, "x", rank, output, json.dumps(layouts.dump(new))) == "ok"
        assert output.read_bytes() == local(new, whole, rank).tobytes()


MANIFEST = json.dumps(
    {
        "version": 1,
        "number": 1,
        "written_at": 12.5,
        "ranks": 3,
        "arrays": [
            {
                "name": 'x\u00e4"',
                "dtype": "<f8",
                "shape": [6, 4],
                "layout": {"dimensions": [{"parts": 2, "block": None}, {"shares": [1, 3]}]},
                "shards": [
                    {"rank": n, "file": f"0-{n}.raw", "bytes": size, "crc32": 4294967295}
                    for n, size in enumerate((24, 72, 24, 72))
                ],
            },
            {
                "name": "y",
                "dtype": "|S3",
                "shape": [3],
                "layout": {"dimensions": [{"map": [[2], [], [0, 1]]}]},
                "shards": [
                    {"rank": n, "file": f"1-{n}.raw", "bytes": size, "crc32": 0} for n, size in enumerate((3, 0, 6))
                ],
            },
        ],
    }
).encode()
#: What mistakes and attacks look like.
SPLICES = st.one_of(
    st.binary(max_size=8),
    st.sampled_from([b"null", b"[]", b"{}", b"-1", b"1e999", b"9" * 25, b"9007199254740992", b"4194304", b"[" * 70]),
    st.sampled_from([b'"\\ud800"', b"1.0", b"true", b'"../x"', b'{"replicated": 1}', b'{"map": [[0]]}', b'"shape"']),
)


@st.composite
def manifests(draw: Any) -> bytes:
    """The manifest, altered in up to three places."""
    text = MANIFEST
    for _ in range(draw(st.integers(0, 3))):
        begin = draw(st.integers(0, len(text)))
        end = min(len(text), begin + draw(st.integers(0, 12)))
        text = text[:begin] + draw(SPLICES) + text[end:]
    return text


@st.composite
def spoilt_values(draw: Any) -> bytes:
    """The manifest with another value at one of its places."""
    document = json.loads(MANIFEST)
    at: Any = document
    while True:
        key = draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if not isinstance(at[key], dict | list) or not at[key] or draw(st.integers(0, 4)) == 0:
            break
        at = at[key]
    at[key] = draw(
        st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.none(), st.text(max_size=5))
        | st.sampled_from([[], {}, True, 2**53, 2**62, 2**20, [0], {"parts": 2**53, "block": 2**53}, "checkpoint", "."])
    )
    return json.dumps(document, ensure_ascii=draw(st.booleans())).encode("utf-8", "replace")


@given(st.one_of(manifests(), spoilt_values()))
@WIDE
def test_any_manifest_gives_a_value_or_a_sentence(reader: Reader, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "checkpoint-00000001")
        folder.mkdir()
        file = folder / "manifest.json"
        file.write_bytes(content)
        answer = reader("parse", file)
        assert answer == "ok" or answer[0] in "235", answer
        if answer != "ok":
            return
        for shard in (*((f"0-{n}.raw", s) for n, s in enumerate((24, 72, 24, 72))),):
            (folder / shard[0]).write_bytes(bytes(shard[1]))
        try:
            checkpoint_files.opened(Path(scratch), 1)
        except BadCheckpointError as error:
            assert "is missing" in str(error) or "bytes;" in str(error), (content, error)  # noqa: PT017


def test_a_manifest_that_was_altered_is_refused(reader: Reader, tmp_path: Path) -> None:
    folder, file = tmp_path / "x", tmp_path / "altered"
    write(folder, np.arange(12.0), layouts.block(3))
    content = (folder / "checkpoint-00000001" / "manifest.json").read_bytes()
    file.write_bytes(content)
    assert reader("parse", file) == "ok"
    for old, new in (
        (b"<f8", b"<i8"),
        (b'"crc32": ', b'"crc32": 1'),
        (b"}", b"} "),
        (b"1.0", b"2.0"),
        (b"0.0", b"2.0"),
    ):
        file.write_bytes(new.join(content.rsplit(old, 1)))
        if file.read_bytes() != content:
            assert "The manifest was changed since it was written." in reader("parse", file), new
    file.write_bytes(content[: content.rindex(b', "crc32"')] + b"}")  # as before there were checksums
    assert reader("parse", file) == "ok"
    file.write_text(json.dumps({"version": 1, "number": 1, "written_at": 1, "ranks": 1, "arrays": []}))
    assert "one with ranks, written_at and arrays, one or more" in reader("parse", file)


@given(
    st.one_of(
        st.binary(max_size=40),
        st.recursive(
            st.one_of(st.none(), st.booleans(), st.integers(-(10**17), 10**17), st.floats(allow_nan=False), st.text()),
            lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        ).map(lambda value: json.dumps(value).encode()),
        st.from_regex(rb'[\[\]{},:" \\nul0-9eE+.\-tru]{0,30}', fullmatch=True),
    )
)
@WIDE
def test_it_reads_the_json_that_python_reads(reader: Reader, content: bytes) -> None:
    try:
        document = bounded_json.loads(content)
        accepted = "\\u0000" not in json.dumps(document)  # texts of C end there
    except ValueError:
        accepted = False
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        assert (reader("json", file.name) == "ok") == accepted
