"""Answers to Remos queries as JSON documents, and flows as people write them.

Source: Selection 1999, 2.2 (flow queries, logical network topology).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gridportal.base.errors import InputError
from gridportal.network.flows import Flow, FlowRate
from gridportal.network.logical import Logical, LogicalLink
from gridportal.network.topology import Link, dump
from monitoring.telemetry.core.figures import FORECAST, NOW, When, forecast_over, window

_FACTORS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_WINDOW = re.compile(r"([0-9]{1,9}(?:\.[0-9]+)?)\s*([smhd]?)")
_FLOW = re.compile(
    r"(?P<source>[^>:@*\s]+)[>:](?P<target>[^>:@*\s]+?)(?:@(?P<demand>[0-9]{0,18}\.?[0-9]{1,18})(?P<prefix>[kMGT]?))?(?:\*(?P<weight>[0-9]{0,9}\.?[0-9]{1,9}))?"
)


def parse_flow(text: str) -> Flow:
    """A flow as `source>target`, with `@` and the bit/s that it wants at most, with `*` and its weight. InputError.

    A colon does as well as the >, which a shell takes for itself unless it is quoted.

    >>> parse_flow("n1>n3")
    Flow(source='n1', target='n3', demand=inf, weight=1.0)
    >>> parse_flow("n2:n4@50M*2")
    Flow(source='n2', target='n4', demand=50000000.0, weight=2.0)
    """
    match = _FLOW.fullmatch(text.strip())
    if not match:
        raise InputError(
            "flows", text, "SOURCE>TARGET or SOURCE:TARGET, such as n1:n3, or n1:n3@50M for at most 50 Mbit/s"
        )
    demand = float(match["demand"]) * _FACTORS[match["prefix"]] if match["demand"] else float("inf")
    return Flow(match["source"], match["target"], demand, float(match["weight"] or 1.0))


def parse_window(text: str) -> When:
    """A window of history as `15m`, `1h`, `7d`, or seconds. Raises InputError.

    >>> parse_window("1.5h").seconds
    5400.0
    """
    return window(_seconds("window", text))


def parse_forecast_over(text: str) -> When:
    """A forecast of the mean over the next `15m`, `1h`, ..., or seconds. Raises InputError.

    >>> str(parse_forecast_over("10m"))
    'as forecast over the next 10 min'
    """
    return forecast_over(_seconds("ahead", text))


def parse_when(window: str | None, forecast_over: str | None, topology: str | None, *, forecast: bool) -> When:
    """The moment that a command asks about; `topology` is its file, which has no history. Raises InputError."""
    if window is not None and (forecast or forecast_over is not None):
        raise InputError("window", window, "either --window or a forecast (--forecast, --ahead)")
    if topology is not None and (window is not None or forecast or forecast_over is not None):
        raise InputError("topology", topology, "a cluster with --window, --forecast and --ahead: a file has no history")
    if forecast_over is not None:
        return parse_forecast_over(forecast_over)
    if window is not None:
        return parse_window(window)
    return FORECAST if forecast else NOW


def _seconds(field: str, text: str) -> float:
    match = _WINDOW.fullmatch(text.strip())
    if not match:
        raise InputError(field, text, "a time such as 90s, 15m, 1h or 7d")
    return float(match[1]) * _SECONDS[match[2]]


def flow_document(rate: FlowRate, now: float) -> dict[str, Any]:
    """One answer of a flow query; bandwidths in bit/s, latency and age in seconds. `now` is Unix seconds."""
    return {
        "source": rate.source,
        "target": rate.target,
        "bandwidth": rate.bandwidth,
        "low": rate.low,
        "high": rate.high,
        "latency": rate.latency,
        "path": list(rate.path),
        "held_by": rate.held,
        "binding": {"source": rate.binding[0], "target": rate.binding[1]} if rate.binding else None,
        "several_paths": rate.several,
        "measured_at": rate.measured_at,
        "age": None if rate.measured_at is None else max(0.0, now - rate.measured_at),
        "origins": list(rate.origins),
    }


def flows_document(rates: Sequence[FlowRate], now: float, about: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a flow query; `about`: of which network and which moment it is."""
    return {**about, "flows": [flow_document(rate, now) for rate in rates]}


def logical_document(logical: Logical, now: float, about: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a question for a logical topology: a node-link document, whose links say what they stand for."""
    document = dump(logical.topology)
    document["links"] = [{**_link(link, now), "made_of": _made_of(link, now)} for link in logical.topology.links]
    network, compute, links = logical.left_out
    left_out = {"network_nodes": network, "compute_nodes": compute, "links": links}
    return {**about, **document, "left_out": left_out}


def _made_of(link: Link, now: float) -> list[dict[str, object]]:
    return [_link(part, now) for part in link.made_of] if isinstance(link, LogicalLink) else []


def _link(link: Link, now: float) -> dict[str, object]:
    return {
        "source": link.source,
        "target": link.target,
        "through": list(link.through) if isinstance(link, LogicalLink) else [],
        "capacity": link.capacity,
        "bandwidth": link.bandwidth,
        "low": link.low,
        "high": link.high,
        "used": link.used,
        "latency": link.latency,
        "measured_at": link.measured_at,
        "age": None if link.measured_at is None else max(0.0, now - link.measured_at),
        "origin": link.origin,
    }
