"""The report of a run as tables for people."""

from __future__ import annotations

import statistics
from typing import Any

from rich.console import Console
from rich.table import Table


def show(report: dict[str, Any], console: Console) -> None:
    """What was done, what became of the jobs, what was broken."""
    slurm = " and Slurm" if report["slurm"] else ""
    console.print(f"\n{report['kind']}{slurm}, seed {report['seed']}, {report['seconds'] / 60:g} minutes", style="bold")
    console.print(_disturbances(report))
    console.print(_jobs(report))
    for each in report["excused"]:
        console.print(f"excused: job {each['job']}: {each['story']}", markup=False)
    if not report["violations"]:
        console.print("No violation.")
    for each in report["violations"]:
        console.print(f"VIOLATION {each['rule']}, job {each['job'] or '–'}: {each['story']}", markup=False)


def _disturbances(report: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name, align in (("disturbance", "left"), ("times", "right"), ("median s", "right"), ("worst s", "right")):
        table.add_column(name, justify=align)  # type: ignore[arg-type]
    for kind, times in sorted(report["disturbances"].items()):
        table.add_row(kind, str(times), *recovery(report["recovery"].get(kind, [])))
    return table


def recovery(seconds: list[float | None]) -> tuple[str, str]:
    """Median and worst of the times until work went on; a dash for none.

    >>> recovery([1.0, 3.0, 2.0]), recovery([1.0, None]), recovery([])
    (('2.0', '3.0'), ('1.0', 'never'), ('–', '–'))
    """
    known = [value for value in seconds if value is not None]
    if not seconds:
        return "–", "–"
    worst = "never" if len(known) < len(seconds) else f"{max(known):.1f}"
    return (f"{statistics.median(known):.1f}" if known else "never"), worst


def _jobs(report: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    rows = {
        "submissions": report["asked"],
        "answers by status (0: none)": _words(report["answers"]),
        "orders": _words(report["orders"]),
        "accepted": report["accepted"],
        "jobs there": report["jobs"],
        "by state": _words(report["states"]),
        "moves made": report["moves"]["made"],
        "decisions on moves": _words(report["moves"]["decisions"]),
        "runs by the ledger": _words(report["runs"]),
        "settled after": "never" if report["settled_after"] is None else f"{report['settled_after']:.0f} s",
        "most descriptors": _words(report["descriptors"]),
        "looks at the rows": report["looks"],
    }
    for name, value in rows.items():
        table.add_row(name, str(value))
    return table


def _words(counts: dict[str, Any]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"
