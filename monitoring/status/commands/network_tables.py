"""Answers to questions about the network as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gridportal.base.name_lists import listed
from gridportal.base.printed_table import Column, show_table
from gridportal.base.printed_text import echo
from gridportal.base.rates import rate_text
from monitoring.telemetry.core.figures import When


def show_flows(answer: dict[str, Any]) -> None:
    """The answer to a flow query, a row for each flow."""
    flows = answer["flows"]
    spread = any(flow["low"] != flow["high"] for flow in flows)
    between = [Column("Between", wraps=True)] if spread else []
    columns = (
        Column("Flow", wraps=True),
        Column("Bandwidth", number=True),
        *between,
        Column("Latency", number=True, spare=2),
        Column("Limited by", wraps=True),
        Column("Path", wraps=True, spare=3),
        Column("Measured", wraps=True, spare=1),
    )
    rows = [
        (
            f"{flow['source']} > {flow['target']}",
            rate_text(flow["bandwidth"]),
            *([f"{rate_text(flow['low'])} to {rate_text(flow['high'])}"] if spread else []),
            _latency(flow["latency"]),
            _held(flow),
            " ".join(flow["path"]) + (" (one of several)" if flow["several_paths"] else ""),
            _measured(flow),
        )
        for flow in flows
    ]
    _print(answer, columns, rows)


def show_logical(answer: dict[str, Any]) -> None:
    """A logical topology, a row for each link."""
    columns = (
        Column("Link", wraps=True),
        Column("Through", wraps=True, spare=1),
        Column("Available", number=True),
        Column("Peak", number=True),
        Column("Counted", number=True, spare=4),
        Column("Latency", number=True, spare=3),
        Column("Measured", wraps=True, spare=2),
    )
    rows = [
        (
            f"{link['source']} - {link['target']}",
            " ".join(link["through"]) or "—",
            rate_text(link["bandwidth"]),
            rate_text(link["capacity"]),
            "—" if link["used"] is None else rate_text(link["used"]),
            _latency(link["latency"]),
            _measured(link),
        )
        for link in answer["links"]
    ]
    _print(answer, columns, rows)
    counts = _left_out(answer["left_out"])
    if counts:
        echo(f"Left out: {listed(counts)}.")


def _print(answer: dict[str, Any], columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    if answer.get("warning"):
        echo(answer["warning"], err=True)
    show_table(columns, rows, title=answer["topology"] + (f", {_moment(answer['when'])}" if "when" in answer else ""))


def _latency(seconds: float | None) -> str:
    """A link of which nobody knows it counts as one that adds nothing."""
    return f"{seconds * 1e3:.3g} ms" if seconds else "—"


def _left_out(counts: Mapping[str, int]) -> list[str]:
    """How many of the other nodes, switches and links there are, without those of which there are none."""
    names = {
        "compute_nodes": ("other node", "other nodes"),
        "network_nodes": ("switch", "switches"),
        "links": ("link", "links"),
    }
    found = [(counts[kind], *forms) for kind, forms in names.items() if counts[kind]]
    return [f"{count} {one if count == 1 else several}" for count, one, several in found]


def _moment(when: dict[str, Any]) -> str:
    return str(When(when["kind"], when["seconds"]))


def _held(flow: dict[str, Any]) -> str:
    binding = flow["binding"]
    return flow["held_by"] if binding is None else f"{binding['source']} > {binding['target']}"


def _measured(figure: dict[str, Any]) -> str:
    if figure["age"] is None:
        return "—"
    origins = figure.get("origins") or [figure.get("origin", "")]
    return f"{figure['age']:.0f} s ago ({', '.join(filter(None, origins)) or 'file'})"
