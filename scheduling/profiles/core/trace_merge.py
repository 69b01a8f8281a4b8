"""One trace from the files of its ranks: communicators get names that all ranks share.

A rank knows a communicator by its members and by how many others of the same members lived when it was made. Making one
is collective over its members, so these two together mean the same communicator on all of them. Where a rank folded
calls with rising tags into one, the tags on that communicator are dropped on all ranks: messages match by their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gridportal.base.errors import InputError
from scheduling.profiles.core.trace_nodes import Trace
from scheduling.profiles.core.trace_text import MAX_RANKS, VERSION, parse

_Key = tuple[tuple[int, ...], bool, bool, int]


def merge(documents: Iterable[Any]) -> Trace:
    """The trace of a run from the documents that its ranks wrote, in any order.

    Raises InputError when one is damaged, ranks are missing, or they are of different runs.
    """
    by_rank = {_checked(document)["rank"]: document for document in documents}
    if not by_rank:
        raise InputError("trace", None, "the files that the ranks of a traced program wrote")
    ranks = next(iter(by_rank.values()))["ranks"]
    if sizes := {document["ranks"] for document in by_rank.values()} - {ranks}:
        raise InputError("trace", f"files of runs with {ranks} and {min(sizes)} ranks", "the files of one run")
    missing = [rank for rank in range(ranks) if rank not in by_rank]
    if missing or len(by_rank) != ranks:
        raise InputError(
            "trace", f"{len(by_rank)} of {ranks} ranks", f"the files of all ranks of one run{_of(missing)}"
        )
    files = [by_rank[rank] for rank in range(ranks)]
    try:
        document = _document(files, ranks)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError) as error:
        wanted = "files as the recording library writes them"
        raise InputError("trace", f"a damaged file ({type(error).__name__}: {error})", wanted) from error
    return parse(document)


def _document(files: Sequence[Mapping[str, Any]], ranks: int) -> dict[str, object]:
    names = _names(files, ranks)
    untagged = frozenset[str]().union(*(_mixed(file["body"], _own(file, names)) for file in files))
    return {
        "version": VERSION,
        "program": files[0].get("program", ""),
        "ranks": ranks,
        "mpi": " ".join(str(files[0].get("mpi", "")).replace("Version:", "").split()),
        "wall": max(file.get("wall", 0.0) for file in files),
        "hosts": [file.get("host", "") for file in files],
        "comms": {name: [rank for rank in key[0] if rank >= 0] for key, name in names.items()},
        "inter": [name for key, name in names.items() if key[1]],
        "processes": [_process(file, names, untagged) for file in files],
    }


def _of(missing: Sequence[int]) -> str:
    return f"; without rank {', '.join(map(str, missing[:5]))}{'...' if len(missing) > 5 else ''}" if missing else ""


def _checked(document: Any) -> Mapping[str, Any]:
    if not isinstance(document, Mapping) or not isinstance(document.get("comms"), list):
        raise InputError("trace", "a file without comms", "a file of one rank")
    if document.get("version") != VERSION:
        raise InputError(
            "trace.version", document.get("version"), f"{VERSION}, the version of traces that is read here"
        )
    ranks, rank = document.get("ranks"), document.get("rank")
    if type(ranks) is not int or type(rank) is not int or not 0 <= rank < ranks <= MAX_RANKS:
        raise InputError("trace.rank", rank, f"a rank of a run with up to {MAX_RANKS} ranks")
    return document


def _key(comm: Mapping[str, Any]) -> _Key:
    return tuple(comm["members"]), bool(comm["inter"]), bool(comm["window"]), int(comm["k"])


def _names(files: Sequence[Mapping[str, Any]], ranks: int) -> dict[_Key, str]:
    names: dict[_Key, str] = {(tuple(range(ranks)), False, False, 0): "0"}
    for file in files:
        for comm in file["comms"]:
            names.setdefault(_key(comm), str(len(names)))
    return names


def _process(file: Mapping[str, Any], names: Mapping[_Key, str], untagged: frozenset[str]) -> dict[str, object]:
    own = _own(file, names)
    return {**file, "body": [_named(node, own, untagged) for node in file["body"]]}


def _own(file: Mapping[str, Any], names: Mapping[_Key, str]) -> list[str]:
    return [names[_key(comm)] for comm in file["comms"]]


def _named(node: Mapping[str, Any], own: Sequence[str], untagged: frozenset[str]) -> dict[str, object]:
    if "loop" in node:
        return {**node, "body": [_named(inner, own, untagged) for inner in node["body"]]}
    named = {**node, "comm": own[node.get("comm", 0)]}
    if "newcomm" in node:
        named["newcomm"] = own[node["newcomm"]] if node["newcomm"] >= 0 else None
    if named["comm"] in untagged:
        named.pop("tag", None)
        named.pop("recv_tag", None)
    return named


def _mixed(body: Sequence[Mapping[str, Any]], own: Sequence[str]) -> set[str]:
    """The communicators on which calls with different tags were folded into one."""
    found = {own[node["comm"]] for node in body if node.get("mixed")}
    return found.union(*(_mixed(node["body"], own) for node in body if "loop" in node))
