"""The same array from files into the same layout, read by SRS and by libraries that store arrays.

The others store one array in the order of its elements, without compression; SRS reads what four ranks left in their
own layout. All ranks read one after the other. Each of the others selects as its documentation has it for the layout,
or reads everything and lets numpy pick, whichever takes less. All take turns; medians of some rounds.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gridportal.runtime.srs import checkpoint_files, layouts
from gridportal.runtime.srs.dealing import BlockCyclic
from gridportal.runtime.srs.redistribution import Redistribution
from tests.bench.test_stop_restart_bench import Seconds, in_turn, median, stored

pytestmark = pytest.mark.bench
#: 96 and 144 MiB of doubles, which all these layouts divide.
LINE, SQUARE = (3 * 2**22,), (3 * 2**11, 3 * 2**10)
WAYS = [
    (LINE, "block:4 block:3"),
    (LINE, "cyclic:4 cyclic:6"),
    *((LINE, f"block-cyclic:{size}:4 block-cyclic:{2 * size}:6") for size in (4, 64, 256, 512)),
    (SQUARE, "block:2x2 block:2x3"),
    *((SQUARE, f"block-cyclic:{size}x{size}:2x2 block-cyclic:{size}x{size}:2x3") for size in (1, 4, 64, 256)),
]
ROUNDS = 3
CHUNK = 2**20
#: Pieces of rows that torch stores.
BLOCKS = 12
WITHOUT_TORCH = "torch.distributed.checkpoint is left out: torch is not installed (pip install torch; 0.2 to 3 GB)."
Part = list[tuple[int, int, int]]  # of each dimension block, parts and which part
Reader = Callable[[Part], np.ndarray]


def parts_of(layout: layouts.Layout, shape: tuple[int, ...], rank: int) -> Part:
    place = layout.coordinates(rank)
    dealt = zip(layout.dealings, shape, place, strict=True)
    return [(d.size(n), d.parts, at) for d, n, at in dealt if isinstance(d, BlockCyclic)]


def picked(whole: np.ndarray, part: Part) -> np.ndarray:
    """This part of an array that is in memory."""
    for axis, (block, parts, at) in enumerate(part):
        shape = whole.shape
        split = whole.reshape(*shape[:axis], -1, parts, block, *shape[axis + 1 :])
        whole = split[(*[slice(None)] * (axis + 1), at)].reshape(*shape[:axis], -1, *shape[axis + 1 :])
    return whole


def chosen(part: Part, slices: Callable[[int, int, int, int], Any], shape: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(slices(*each, length) for each, length in zip(part, shape, strict=True))


def indices(block: int, parts: int, at: int, length: int) -> np.ndarray | slice:
    """Places of a part: a slice where that is enough."""
    if block * parts >= length:
        return slice(at * block, (at + 1) * block)
    if block == 1:
        return slice(at, None, parts)
    return np.arange(length).reshape(-1, parts, block)[:, at].ravel()


def by_h5py(folder: Path, whole: np.ndarray) -> list[Reader]:
    h5py = pytest.importorskip("h5py", reason="bench only: make bench installs it")
    with h5py.File(folder / "x.h5", "w") as file:
        file["x"] = whole

    def slices(block: int, parts: int, at: int, length: int) -> Any:
        count = length // (block * parts)
        return h5py.MultiBlockSlice(start=at * block, stride=parts * block, count=count, block=block)

    def select(part: Part) -> np.ndarray:
        with h5py.File(folder / "x.h5") as file:
            return file["x"][chosen(part, slices, whole.shape)]

    def pick(part: Part) -> np.ndarray:
        with h5py.File(folder / "x.h5") as file:
            return picked(file["x"][...], part)

    return [select, pick]


def by_zarr(folder: Path, whole: np.ndarray) -> list[Reader]:
    zarr = pytest.importorskip("zarr", reason="bench only: make bench installs it")
    store = zarr.create_array(
        folder / "x.zarr", shape=whole.shape, chunks=_chunks(whole), dtype=whole.dtype, compressors=None
    )
    store[...] = whole
    return [
        lambda part: zarr.open_array(folder / "x.zarr").oindex[chosen(part, indices, whole.shape)],
        lambda part: picked(zarr.open_array(folder / "x.zarr")[...], part),
    ]


def by_tensorstore(folder: Path, whole: np.ndarray) -> list[Reader]:
    tensorstore = pytest.importorskip("tensorstore", reason="bench only: make bench installs it")
    spec = {"driver": "zarr", "kvstore": {"driver": "file", "path": str(folder / "x.ts")}}
    metadata = {"shape": list(whole.shape), "chunks": list(_chunks(whole)), "dtype": "<f8", "compressor": None}
    tensorstore.open({**spec, "metadata": metadata}, create=True).result().write(whole).result()

    def opened() -> Any:
        return tensorstore.open(spec, open=True).result()

    return [
        lambda part: opened().oindex[chosen(part, indices, whole.shape)].read().result(),
        lambda part: picked(opened().read().result(), part),
    ]


def by_torch(folder: Path, whole: np.ndarray) -> list[Reader]:
    """It knows blocks of whole rows; all of it is read by one process here, as the others' parts are."""
    import torch  # optional: not every index has it
    import torch.distributed.checkpoint as dcp

    rows = whole.shape[0] // BLOCKS
    stored = {str(at): torch.from_numpy(whole[at * rows : (at + 1) * rows]) for at in range(BLOCKS)}
    dcp.save(stored, checkpoint_id=folder / "x.dcp", no_dist=True)

    def pick(part: Part) -> np.ndarray:
        into = np.empty_like(whole)
        state = {str(at): torch.from_numpy(into[at * rows : (at + 1) * rows]) for at in range(BLOCKS)}
        dcp.load(state, checkpoint_id=folder / "x.dcp", no_dist=True)
        return picked(into, part)

    def select(part: Part) -> np.ndarray:
        """The blocks of rows that hold some of the part; all of them unless it is a block."""
        block, parts, at = part[0]
        if block * parts < whole.shape[0]:
            return pick(part)
        wanted = range(at * block // rows, -(-(at + 1) * block // rows))
        into = np.empty((len(wanted) * rows, *whole.shape[1:]))
        state = {str(number): torch.from_numpy(into[i * rows : (i + 1) * rows]) for i, number in enumerate(wanted)}
        dcp.load(state, checkpoint_id=folder / "x.dcp", no_dist=True)
        begin = at * block - wanted[0] * rows
        return picked(into[begin : begin + block], [(block, 1, 0), *part[1:]])

    return [pick, select]


def by_memmap(folder: Path, whole: np.ndarray) -> list[Reader]:
    np.save(folder / "x.npy", whole)
    return [lambda part: picked(np.load(folder / "x.npy", mmap_mode="r"), part).copy()]


def _chunks(whole: np.ndarray) -> tuple[int, ...]:
    return (CHUNK,) if whole.ndim == 1 else (1024, 1024)


PEERS = {"h5py": by_h5py, "zarr": by_zarr, "tensorstore": by_tensorstore, "torch": by_torch, "numpy": by_memmap}
#: Those that `make bench` does not install: not every index has them.
OPTIONAL = {"torch": WITHOUT_TORCH}


Step = Callable[[], object]


def peers(folder: Path, whole: np.ndarray, new: layouts.Layout) -> Iterator[tuple[str, Step]]:
    """Each way of each of the others, tried once."""
    every = [parts_of(new, whole.shape, rank) for rank in range(new.ranks)]
    for name, store in PEERS.items():
        if name in OPTIONAL and importlib.util.find_spec(name) is None:
            continue
        (folder / name).mkdir(parents=True)
        for number, read in enumerate(store(folder / name, whole)):
            last = read(every[-1])
            assert np.array_equal(last, picked(whole, every[-1])), name

            def step(read: Reader = read) -> None:
                for part in every:
                    read(part)

            yield f"{name} {number}", step


def by_srs(folder: Path, shape: tuple[int, ...], old: layouts.Layout, new: layouts.Layout) -> Step:
    checkpoint, way = stored(folder, shape, old), Redistribution(old, new, shape)

    def read() -> None:
        for target in range(new.ranks):
            room = np.empty(new.local_shape(shape, target))  # fresh, as the others' are
            way.fill(lambda source: checkpoint.held("x", source), target, room)

    return read


def quickest(each: Mapping[str, Sequence[Seconds]], name: str) -> Seconds:
    """Of the ways of one of them that which takes the processors least."""
    return min((median(rounds) for way, rounds in each.items() if way.split()[0] == name), key=lambda it: it.cpu)


@pytest.mark.timeout(900)
def test_the_same_layouts_from_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = {name: why for name, why in OPTIONAL.items() if importlib.util.find_spec(name) is None}
    names = ("SRS", *(name for name in PEERS if name not in missing))
    lines = [f"{'milliseconds, of the clock / of processors':52}" + "".join(f"{name:>14}" for name in names)]
    for number, (shape, text) in enumerate(WAYS):
        old, new = (layouts.parsed(word) for word in text.split())
        whole = np.random.default_rng(1).random(shape)
        steps = {"SRS": by_srs(tmp_path / f"srs-{number}", shape, old, new)}
        each = in_turn(steps | dict(peers(tmp_path / str(number), whole, new)), ROUNDS)
        found = [quickest(each, name) for name in names]
        lines.append(f"{text:52}" + "".join(f"{1e3 * it.clock:8.0f}/{1e3 * it.cpu:5.0f}" for it in found))
        checkpoint_files.clear(tmp_path / f"srs-{number}")
    with capsys.disabled():
        print("\n" + "\n".join([*lines, *missing.values()]))  # noqa: T201
