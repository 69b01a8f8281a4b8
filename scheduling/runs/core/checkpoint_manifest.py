"""What a manifest says of a checkpoint, as far as the portal needs it. A program wrote it: nothing is trusted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gridportal.base.entries import Entries, text, whole
from gridportal.base.errors import InputError
from gridportal.runtime.srs import layouts

#: What is kept of it, whatever it holds: arrays, letters of a name, dimensions.
MOST_ARRAYS, _MOST_NAME, _MOST_SHAPE = 200, 120, 16
_MOST_DEPOTS, _MOST_COPIES = 4096, 8
_MOST_RANKS, _MOST_BYTES, _LATEST = 1_000_000, 2**62, 7_258_118_400.0


@dataclass(frozen=True, slots=True)
class ArrayFacts:
    """An array: numpy's word for its type, its shape, and the document of its layout, as the program wrote it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    layout: str

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {"name": self.name, "dtype": self.dtype, "shape": list(self.shape), "layout": self.layout}

    @classmethod
    def read(cls, document: object) -> ArrayFacts:
        """From a document of `document`. Raises InputError for another kind."""
        entries = Entries(document, "array")
        dtype, layout = entries.required("dtype", text), entries.required("layout", text)
        return cls(entries.required("name", text), dtype, tuple(entries.list_of("shape", whole)), layout)


@dataclass(frozen=True, slots=True)
class ManifestFacts:
    """Unix seconds when it was written, ranks, bytes of all shards, and its arrays, the first `MOST_ARRAYS` of them.
    `files`: the shards in the folder itself with their bytes; `depots`: the nodes that have shards; `copies`: by shard
    that only depots have, without repetition, the nodes that have a copy of it."""

    written_at: float
    ranks: int
    bytes: int
    arrays: tuple[ArrayFacts, ...]
    files: Mapping[str, int]
    depots: tuple[str, ...]
    copies: frozenset[tuple[str, ...]] = frozenset()


def read(document: Any) -> ManifestFacts:
    """The facts. Raises InputError for what is no manifest.

    >>> shards = [{"file": "0-0.raw", "bytes": 16}, {"file": None, "bytes": 16, "depots": ["n1", "n2"]}]
    >>> array = {"name": "x", "dtype": "<f8", "shape": [4], "layout": {"kind": "block"}, "shards": shards}
    >>> found = read({"ranks": 2, "written_at": 9.0, "arrays": [array]})
    >>> found.bytes, found.depots
    (32, ('n1', 'n2'))
    >>> found.copies
    frozenset({('n1', 'n2')})
    """
    if not isinstance(document, Mapping):
        raise InputError("manifest", document, "an object")
    arrays = document.get("arrays")
    if not isinstance(arrays, list):
        raise InputError("arrays", arrays, "a list")
    shards = [shard for array in arrays for shard in _shards(array)]
    return ManifestFacts(
        written_at=_number(document, "written_at", _LATEST),
        ranks=int(_number(document, "ranks", _MOST_RANKS)),
        bytes=min(sum(shard.bytes for shard in shards), _MOST_BYTES),
        arrays=tuple(_array(each) for each in arrays[:MOST_ARRAYS]),
        files={shard.file: shard.bytes for shard in shards if shard.file},
        depots=tuple(sorted({node for shard in shards for node in shard.depots})[:_MOST_DEPOTS]),
        copies=frozenset(shard.depots for shard in shards if not shard.file),
    )


def arrays_of(document: Any) -> tuple[ArrayFacts, ...]:
    """The arrays of a map of data (`store_map`), by name. Raises InputError."""
    arrays = document.get("arrays") if isinstance(document, Mapping) else None
    if not isinstance(arrays, Mapping):
        raise InputError("arrays", arrays, "an object with an array by each name")
    rows = list(arrays.items())[:MOST_ARRAYS]
    return tuple(_array({**each, "name": name}) for name, each in rows if isinstance(each, Mapping))


def _array(raw: Any) -> ArrayFacts:
    if not isinstance(raw, Mapping) or not isinstance(raw.get("name"), str):
        raise InputError("arrays.name", raw, "the name of an array")
    shape = raw.get("shape")
    if not isinstance(shape, list) or len(shape) > _MOST_SHAPE or not all(_is_length(each) for each in shape):
        raise InputError("arrays.shape", shape, f"at most {_MOST_SHAPE} lengths")
    return ArrayFacts(_shown(raw["name"]), _shown(raw.get("dtype")), tuple(shape), _shown(_layout(raw.get("layout"))))


def _layout(raw: Any) -> str:
    """As `gridportal redistribute plan` takes it, where it is a layout of SRS.

    >>> _layout({"dimensions": [{"parts": 2, "block": 64}, {"parts": 3, "block": 32}]}), _layout({"replicated": 4})
    ('block-cyclic:64x32:2x3', 'replicated:4')
    >>> _layout({"parts": 7})
    'parts=7'
    """
    try:
        return _shown(layouts.load(raw).text) if _is_short(raw) else _words(raw)
    except InputError:
        return _words(raw)


def _is_short(raw: Any) -> bool:
    """Whether it is a document without the places of an index map, of which nothing would be shown."""
    dimensions = raw.get("dimensions", []) if isinstance(raw, Mapping) else None
    if not isinstance(dimensions, list) or len(dimensions) > _MOST_SHAPE:
        return False
    return all(isinstance(each, Mapping) and "map" not in each for each in dimensions)


def _words(raw: Any) -> str:
    """Words and numbers of a document, in their order."""
    if isinstance(raw, Mapping):
        return " ".join(f"{name}={_words(each)}" for name, each in list(raw.items())[:8])
    if isinstance(raw, list):
        return "x".join(_words(each) for each in raw[:8]) + ("…" if len(raw) > 8 else "")
    return _shown(raw)


@dataclass(frozen=True, slots=True)
class _Shard:
    file: str
    bytes: int
    depots: tuple[str, ...]


def _shards(array: Any) -> Iterator[_Shard]:
    shards = array.get("shards") if isinstance(array, Mapping) else None
    for shard in shards if isinstance(shards, list) else ():
        if not isinstance(shard, Mapping) or not _is_length(shard.get("bytes")):
            raise InputError("shards", shard, "objects with file, or depots, and bytes")
        file, depots = shard.get("file"), shard.get("depots")
        nodes = tuple(_shown(node) for node in depots[:_MOST_COPIES]) if isinstance(depots, list) else ()
        if not isinstance(file, str) and not nodes:
            raise InputError("shards", shard, "objects with file, or depots, and bytes")
        yield _Shard(file if isinstance(file, str) else "", shard["bytes"], nodes)


def _is_length(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_BYTES


def _number(document: Mapping[str, Any], name: str, most: float) -> float:
    value = document.get(name)
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not is_number or not 0 <= value <= most:  # type: ignore[operator]  # a number then
        raise InputError(name, value, f"a number from 0 to {most:g}")
    return float(value)  # type: ignore[arg-type]


def _shown(value: Any) -> str:
    return "".join(letter for letter in str(value)[:_MOST_NAME] if letter.isprintable())
