"""What a skeleton's document says, for people: checked as far as it is shown and run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from gridportal.base.errors import InputError
from scheduling.skeletons.core.skeleton.document import VERSION

_MOST = 1e18


@dataclass(frozen=True, slots=True)
class Row:
    """One segment: how often in the application and here, its part of the size, bytes sent, work, and its calls."""

    times: int
    runs: int
    part: float
    bytes: int
    calls: Mapping[str, int]
    work: float


def checked(document: Any) -> Mapping[str, Any]:
    """`document` if it is a skeleton. Raises InputError that names the entry."""
    if not isinstance(document, dict) or document.get("version") != VERSION:
        found = document.get("version") if isinstance(document, dict) else type(document).__name__
        raise InputError("skeleton version", found, f"{VERSION}, as gridportal skeleton build writes it")
    ranks = document.get("ranks")
    if isinstance(ranks, bool) or not isinstance(ranks, int) or ranks < 1:
        raise InputError("skeleton ranks", ranks, "a whole number from 1")
    if not isinstance(document.get("program"), str):
        raise InputError("skeleton program", document.get("program"), "the name of a program")
    segments = document.get("segments")
    if not isinstance(segments, list) or not segments:
        raise InputError("skeleton segments", segments, "a list of segments")
    for index, segment in enumerate(segments):
        lines = segment.get("ranks") if isinstance(segment, dict) else None
        if not isinstance(lines, list) or len(lines) != ranks:
            raise InputError(f"skeleton segments[{index}].ranks", lines, f"a line for each of the {ranks} ranks")
        _check_segment(segment, f"skeleton segments[{index}]")
    application = document.get("application")
    seconds = application.get("seconds") if isinstance(application, dict) else None
    _check_figure(seconds, "skeleton application.seconds")
    _check_figure(document.get("expected"), "skeleton expected")
    _check_schedule(document.get("schedule"), len(segments), "skeleton schedule")
    return document


def _check_segment(segment: Mapping[str, Any], where: str) -> None:
    for name in ("times", "part"):
        _check_figure(segment.get(name), f"{where}.{name}")
    for rank, line in enumerate(segment["ranks"]):
        if not isinstance(line, list):
            raise InputError(f"{where}.ranks[{rank}]", line, "a list of operations")
        for index, op in enumerate(line):
            place = f"{where}.ranks[{rank}][{index}]"
            if not isinstance(op, dict) or not isinstance(op.get("op"), str):
                raise InputError(place, op, "an operation")
            for name in ("bytes", *(("seconds",) if op["op"] == "work" else ())):
                if name in op or name == "seconds":
                    _check_figure(op.get(name), f"{place}.{name}")
            if op["op"] in ("master", "worker"):
                _check_farm(op, place)


def _check_farm(op: Mapping[str, Any], where: str) -> None:
    _check_figure(op.get("given"), f"{where}.given")
    if not isinstance(op.get("ranks"), list) or not op["ranks"]:
        raise InputError(f"{where}.ranks", op.get("ranks"), "a list of ranks")
    tasks = op.get("tasks")
    if not isinstance(tasks, list) or not all(isinstance(task, list) and len(task) == 3 for task in tasks):
        raise InputError(f"{where}.tasks", tasks, "a list of tasks, each three numbers")
    for task in tasks:
        for value in task:
            _check_figure(value, f"{where}.tasks")


def _check_figure(value: Any, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST:
        raise InputError(where, value, f"a number from 0 to {_MOST:g}")


def rows(document: Mapping[str, Any]) -> list[Row]:
    """The segments in the order of the document."""
    runs = Counter[int]()
    _count(document["schedule"], 1, runs)
    return [_row(segment, runs[index]) for index, segment in enumerate(document["segments"])]


def _row(segment: Mapping[str, Any], runs: int) -> Row:
    ops = [op for line in segment["ranks"] for op in line]
    return Row(
        times=segment["times"],
        runs=runs,
        part=segment["part"],
        bytes=sum(map(_bytes, ops)),
        calls=Counter(op["op"] for op in ops if op["op"] != "work"),
        work=max(sum(map(_work, line)) for line in segment["ranks"]),
    )


def _bytes(op: Mapping[str, Any]) -> int:
    """Of a farm those of its tasks and results, with its master."""
    if op["op"] == "master" and op["tasks"]:
        return round(int(op["given"]) * fmean(back + out for _, back, out in op["tasks"]))
    return 0 if op["op"] in ("worker", "closing") else int(op.get("bytes", 0))


def _work(op: Mapping[str, Any]) -> float:
    """Of a worker its part of the tasks, if all do as many."""
    if op["op"] == "worker" and op["tasks"]:
        return float(op["given"] * fmean(seconds for seconds, _, _ in op["tasks"]) / len(op["ranks"]))
    return float(op["seconds"]) if op["op"] == "work" else 0.0


def _count(body: list[Any], times: int, runs: Counter[int]) -> None:
    for node in body:
        if isinstance(node, int):
            runs[node] += times
        else:
            _count(node["body"], times * node["loop"], runs)


def _check_schedule(body: Any, segments: int, where: str) -> None:
    if not isinstance(body, list):
        raise InputError(where, body, "a list of segments and loops")
    for index, node in enumerate(body):
        place = f"{where}[{index}]"
        if isinstance(node, dict) and isinstance(node.get("loop"), int) and 1 <= node["loop"] <= _MOST:
            _check_schedule(node.get("body"), segments, f"{place}.body")
        elif isinstance(node, bool) or not isinstance(node, int) or not 0 <= node < segments:
            raise InputError(place, node, f"a loop, or the number of a segment from 0 to {segments - 1}")
