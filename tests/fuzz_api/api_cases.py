"""Valid requests for every operation of the API's document: its shapes from the document, its keys from real rows."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any

import schemathesis
from drf_spectacular.generators import SchemaGenerator
from hypothesis import strategies as st
from schemathesis import APIOperation, Case

from tests.fuzz_api.api_rows import NODES, Rows

#: Values that are there, by the name of a parameter, a filter or a member of a body: the document knows their types.
_THERE: dict[str, st.SearchStrategy[Any]] = {
    "application": st.just("ep"),
    "slug": st.just("ep"),
    "node_count": st.sampled_from([1, 2, 4, 8]),
    "method": st.sampled_from(["random", "compute", "communication", "balanced", "pattern"]),
    "pattern": st.sampled_from(["", "ep", "ring", "all-to-all"]),
    "cluster": st.just("grid"),
    "parameters": st.sampled_from([{}, {"klass": "W"}, {"klass": "A", "seed": 7, "note": "a"}]),
    "requirements": st.sampled_from([{}, {"min_cpu": 0.5}, {"min_bandwidth": 1e6}, {"flows": True}]),
    "options": st.sampled_from([{}, {"time_limit": 60}]),
    "request": st.sampled_from(["[]", "[ requirements = other.cpu > 0.1 ]", "[ x = ) ]"]),
    "classad": st.sampled_from(["", "[ requirements = other.cpu > 0.1 ]", '[ Type = "Set"; rank = SetSize ]']),
    "ad": st.sampled_from(["", "[ rack = 7 ]", "[ rack = ]"]),
    "node": st.sampled_from(["", *NODES]),
    "subject": st.sampled_from([*NODES, "n1-n2"]),
    "metric": st.sampled_from(["cpu", "load", "bandwidth"]),
    "since": st.sampled_from(["15m", "1h", "24h", "7d"]),
    "window": st.sampled_from(["15m", "1h", "60"]),
    "ahead": st.sampled_from(["15m", "1h"]),
    "nodes": st.sampled_from(["n1,n2", "n[1-4]", "n1"]),
    "source": st.sampled_from(NODES),
    "target": st.sampled_from(NODES),
    "flows": st.lists(
        st.fixed_dictionaries({"source": st.sampled_from(NODES), "target": st.sampled_from(NODES)}),
        min_size=1,
        max_size=4,
    ),
    "state": st.sampled_from(["active", "queued", "succeeded", "running"]),
    "ordering": st.sampled_from(["id", "-created", "name", "-state"]),
    "candidate": st.just(0),
    "command": st.sampled_from([["true"], ["{python}", "-m", "x", "--class", "{klass}"]]),
    "ranks": st.sampled_from([None, {"choices": [1, 2, 4]}]),
    "phases": st.sampled_from([[], ["reduce"]]),
    "output_patterns": st.sampled_from([{}, {"success": "^Done", "seconds": "Time = (.*)"}]),
}
#: What a body must have, of any value.
_ALWAYS = ("name", "reason", "seed", "profile", "flows", "slug", "days")


#: An application that can be registered, in place of what is there under the same names.
_PROGRAM: dict[str, st.SearchStrategy[Any]] = {
    "slug": st.sampled_from(["new", "newer", "ep"]),
    "parameters": st.sampled_from(
        [[], [{"name": "n", "label": "N", "type": "integer", "min": 1, "max": 9, "default": 1}]]
    ),
    "command": st.sampled_from([["true"], ["{python}", "-m", "x"]]),
    "ranks": st.sampled_from([{}, {"choices": [1, 2, 4]}]),
    "environment": st.sampled_from([{}, {"OMP_NUM_THREADS": "1"}]),
    "launcher": st.just([]),
    "modules": st.sampled_from([[], ["mpi/5"]]),
    "name": st.sampled_from(["New", "Newer"]),
}


@cache
def document() -> dict[str, Any]:
    """What /api/schema answers."""
    return SchemaGenerator().get_schema(request=None, public=True)


@cache
def operations(app: Any) -> dict[str, APIOperation]:
    """Every operation by its method and path, called in `app`."""
    schema = schemathesis.openapi.from_dict(document())
    schema.app = app
    found = [result.ok() for result in schema.get_all_operations()]
    return {operation.label: operation for operation in found}


@st.composite
def cases(draw: st.DrawFn, operation: APIOperation, rows: Rows) -> Case:
    """A request that the document allows; most of its keys and names are of what is there."""
    case = draw(operation.as_strategy())
    if draw(st.booleans()):
        _leave_out(case.query, ())
        _leave_out(case.body, _ALWAYS)
    there = _THERE | {name: st.sampled_from(keys) for name, keys in _keys(operation.path, rows).items()}
    _put_in(draw, case.path_parameters, there)
    _put_in(draw, case.query, there)
    _put_in(draw, case.body, there | (_PROGRAM if operation.path.startswith("/api/applications") else {}))
    return case


def _leave_out(values: Any, always: Collection[str]) -> None:
    """Random values under names of which nothing is there: most of what people may say they leave unsaid."""
    if isinstance(values, dict):
        for name in set(values) - set(_THERE) - set(always):
            del values[name]


def _keys(path: str, rows: Rows) -> dict[str, list[int]]:
    kinds = {"jobs": rows.jobs, "experiments": rows.experiments, "skeletons": rows.skeletons}
    tokens = [key for keys in rows.tokens.values() for key in keys]
    ids = next((keys for kind, keys in (kinds | {"tokens": tokens}).items() if f"/{kind}/" in path), rows.jobs)
    return {"id": ids, "pk": ids, "job": rows.jobs, "number": [1], "profile": rows.profiles}


def _put_in(draw: st.DrawFn, values: Any, there: dict[str, st.SearchStrategy[Any]]) -> None:
    """What is there in place of most of the random values of the same name, in objects of objects too."""
    if isinstance(values, list):
        for value in values:
            _put_in(draw, value, there)
    if not isinstance(values, dict):
        return
    for name, value in values.items():
        if name in there and draw(st.integers(0, 7)):
            values[name] = draw(there[name])
        else:
            _put_in(draw, value, there)
