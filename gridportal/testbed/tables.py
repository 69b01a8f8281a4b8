"""What the testbed commands print: tables for people, one JSON document with --json."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import typer
from rich.console import Console
from rich.table import Table


def show_status(status: Mapping[str, Any], *, as_json: bool) -> None:
    """The Grid at a glance."""
    if as_json:
        return _json(status)
    console = Console()
    console.print(f"[bold]{status['topology']}[/bold], {len(status['nodes'])} nodes, {status['mode']}")
    if status["warning"]:
        console.print(f"[yellow]{status['warning']}[/yellow]")
    test = status["self_test"]
    console.print(f"self test {test['state']}: {test['message']}")
    for link in test["links"]:
        console.print(f"  {_arrow(link)}  {_mbit(link['shaped'])} shaped, {_mbit(link['measured'])} measured")
    table = _table("node", "address", "cpu", "load", "processes")
    for node in status["nodes"]:
        table.add_row(node["id"], node["address"], f"{node['cpu']:.2f}", f"{node['load']:.2f}", str(node["pids"]))
    console.print(table)
    _show_slurm(status.get("slurm"))
    _show_disturbances(console, status)
    for run in status["runs"]:
        console.print(f"run {run['id']}: {run['state']} on {','.join(run['nodes'])} {run['reason']}")
    return None


def show_probe(report: Mapping[str, Any], *, as_json: bool) -> None:
    """Measured Mbit/s, sources down and targets across."""
    if as_json:
        return _json(report)
    pairs = {(pair["source"], pair["target"]): pair["bandwidth"] for pair in report["pairs"]}
    names = [node["id"] for node in report["nodes"] if any(node["id"] in pair for pair in pairs)]
    table = _table("Mbit/s", *names)
    for source in names:
        row = [f"{pairs[source, target] / 1e6:.1f}" if (source, target) in pairs else "" for target in names]
        table.add_row(source, *row)
    Console().print(table)
    typer.echo(f"{len(pairs)} pairs in {report['rounds']} rounds, {report['seconds']:.1f} s")
    return None


def show_outputs(done: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """What a command printed on each node, line by line after the node's name."""
    if as_json:
        return _json(list(done))
    for each in done:
        for line in each["output"].splitlines():
            typer.echo(f"{each['node']}: {line}")
        if each["exit_code"] is None:
            typer.echo(f"{each['node']}: killed, its time was up", err=True)
        elif each["exit_code"] != 0:
            typer.echo(f"{each['node']}: exit code {each['exit_code']}", err=True)
    return None


def show_facts(title: str, facts: Mapping[str, Any], *, as_json: bool) -> None:
    """Names and values."""
    if as_json:
        return _json(facts)
    table = _table(title, "")
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), str(value))
    Console().print(table)
    return None


def _show_slurm(info: Mapping[str, Any] | None) -> None:
    """How to use Slurm's own commands by hand: lines to copy, so they are not wrapped."""
    if info:
        gone = [each["name"] for each in info["daemons"] if each["state"] != "running"]
        typer.echo(f"Slurm: {info['state']}. {info['message'] if not gone else 'Not running: ' + ', '.join(gone)}")
        typer.echo(f"  its commands: {' '.join(info['prefix'])} squeue")
        typer.echo(f"  its files:    {info['home']} (slurm.conf, logs)")
        for line in info.get("sinfo", []):
            typer.echo(f"  {line}")


def _show_disturbances(console: Console, status: Mapping[str, Any]) -> None:
    if status["traffic"]:
        traffic = status["traffic"]
        console.print(f"traffic: seed {traffic['seed']}, {traffic['streams']} streams at the start")
    for node, count in status["load"].items():
        console.print(f"load: {count} busy processes on {node}")
    slow = [link for link in status.get("links", []) if link["bandwidth"] < link["capacity"]]
    for link in slow:
        console.print(f"  {_arrow(link)}  {_mbit(link['bandwidth'])} of {_mbit(link['capacity'])}")


def _arrow(link: Mapping[str, Any]) -> str:
    return f"{link['source']} -> {link['target']}"


def _mbit(rate: float) -> str:
    return f"{rate / 1e6:.1f} Mbit/s"


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right")
    return table


def _json(document: Any) -> None:
    typer.echo(json.dumps(document))
