"""What the testbed commands print: tables for people, one JSON document with --json."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import typer
from rich.console import Console

from gridportal.base.printed_table import Column, show_table
from gridportal.base.printed_text import echo, visible

_SHOWN = 8  # links and runs, unless all are asked for


def show_status(status: Mapping[str, Any], *, as_json: bool, every: bool = False) -> None:
    """The Grid at a glance; with `every`, each slowed link and each run that it remembers."""
    if as_json:
        return _json(status)
    echo(f", {len(status['nodes'])} nodes, {status['mode']}", bold=status["topology"])
    if status["warning"]:
        typer.secho(visible(status["warning"]), fg="yellow")
    test = status["self_test"]
    echo(f"self test {test['state']}: {test['message']}")
    echo(status["isolation"]["message"])
    for link in test["links"]:
        echo(f"  {_arrow(link)}  {_mbit(link['shaped'])} shaped, {_mbit(link['measured'])} measured")
    if inside := test.get("inside"):
        echo(f"  inside {inside['node']}  {_mbit(inside['measured'])} measured")
    rows = [
        (node["id"], node["address"], str(node["cpus"]), f"{node['cpu']:.2f}", f"{node['load']:.2f}", str(node["pids"]))
        for node in status["nodes"]
    ]
    show_table(_columns("Node", "Address", "Processors", "Cpu", "Load", "Processes"), rows)
    _show_slurm(status.get("slurm"))
    _show_disturbances(status)
    _show_slowed([link for link in status.get("links", []) if link["bandwidth"] < link["capacity"]], every=every)
    _show_runs(status["runs"], every=every)
    return None


def show_traffic(about: Mapping[str, Any] | None, before: Mapping[str, Any] | None, *, as_json: bool) -> None:
    """What is replayed now (None: nothing) and what that replaced."""
    facts: dict[str, Any] = dict(about) if about else {"traffic": "none"}
    if as_json:
        return _json(facts | ({"replaced": dict(before)} if before else {}))
    if "since" in facts:
        facts["since"] = _time(facts["since"])
    show_facts("Traffic", facts, as_json=False)
    if before:
        verb = "replaces" if about else "ended"
        echo(f"It {verb} the traffic of {_traffic(before)}.")
    return None


def show_load(busy: Mapping[str, int], *, as_json: bool) -> None:
    """How many busy processes each node has."""
    if as_json:
        return _json(busy)
    if not busy:
        echo("Load: none; no node has busy processes.")
        return None
    show_table(_columns("Node", "Busy processes"), [(node, str(count)) for node, count in busy.items()])
    return None


def show_model(title: str, about: Mapping[str, Any] | None, *, as_json: bool) -> None:
    """The parameters of what is replayed, or that nothing is."""
    if about is None:
        return show_facts(title, {"state": "stopped"}, as_json=as_json)
    if as_json:
        return _json(about)
    return show_facts(title, {"seed": about["seed"], **about["model"]}, as_json=False)


def show_probe(report: Mapping[str, Any], *, as_json: bool) -> None:
    """Measured Mbit/s, sources down and targets across."""
    if as_json:
        return _json(report)
    pairs = {(pair["source"], pair["target"]): pair["bandwidth"] for pair in report["pairs"]}
    names = [node["id"] for node in report["nodes"] if any(node["id"] in pair for pair in pairs)]
    for part in _parts(names, pairs):
        rows = [(source, *(_rate(pairs.get((source, target))) for target in part)) for source in names]
        show_table(_columns("Mbit/s", *part), rows)
    echo(f"{len(pairs)} pairs in {report['rounds']} rounds, {report['seconds']:.1f} s")
    return None


def show_outputs(done: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """What a command printed on each node, line by line after the node's name."""
    if as_json:
        return _json(list(done))
    for each in done:
        for line in each["output"].splitlines():
            echo(f"{each['node']}: {line}")
        if each["exit_code"] is None:
            echo(f"{each['node']}: killed, its time was up", err=True)
        elif each["exit_code"] != 0:
            echo(f"{each['node']}: exit code {each['exit_code']}", err=True)
    return None


def show_facts(title: str, facts: Mapping[str, Any], *, as_json: bool) -> None:
    """Names and values."""
    if as_json:
        return _json(facts)
    rows = [(name.replace("_", " "), str(value)) for name, value in facts.items()]
    show_table((Column(title), Column("", wraps=True)), rows)
    return None


def _show_slurm(info: Mapping[str, Any] | None) -> None:
    """How to use Slurm's own commands by hand: lines to copy, so they are not wrapped."""
    if info:
        gone = [each["name"] for each in info["daemons"] if each["state"] != "running"]
        echo(f"Slurm: {info['state']}. {info['message'] if not gone else 'Not running: ' + ', '.join(gone)}")
        echo(f"  its commands: {' '.join(info['prefix'])} squeue")
        echo(f"  its files:    {info['home']} (slurm.conf, logs)")
        for line in info.get("sinfo", []):
            echo(f"  {line}")


def _show_disturbances(status: Mapping[str, Any]) -> None:
    if status["traffic"]:
        echo(f"traffic: {_traffic(status['traffic'])} at the start")
    for model in ("load_model", "traffic_model"):
        if found := status[model]:
            echo(f"{model.replace('_', ' ')}: seed {found['seed']}, since {_time(found['since'])}")
    for node, count in status["load"].items():
        echo(f"load: {count} busy {'process' if count == 1 else 'processes'} on {node}")


def _show_slowed(links: Sequence[Mapping[str, Any]], *, every: bool) -> None:
    """The links that traffic slows, the slowest first."""
    slow = sorted(links, key=lambda link: (link["bandwidth"] / link["capacity"], link["source"], link["target"]))
    if not slow:
        return
    shown = slow if every else slow[:_SHOWN]
    rows = [(_arrow(link), _mbit(link["bandwidth"]), _mbit(link["capacity"])) for link in shown]
    show_table(_columns("Link", "Has now", "Capacity"), rows)
    _say_rest(len(slow), "links that traffic slows", "slowest", every=every)


def _show_runs(runs: Sequence[Mapping[str, Any]], *, every: bool) -> None:
    """The runs, the latest last."""
    if not runs:
        return
    shown = runs if every else runs[-_SHOWN:]
    rows = [(run["id"], run["state"], " ".join(run["nodes"]), run["reason"]) for run in shown]
    columns = (Column("Run"), Column("State"), Column("Nodes", wraps=True), Column("Reason", wraps=True))
    show_table(columns, rows)
    _say_rest(len(runs), "runs", "latest", every=every)


def _say_rest(count: int, what: str, which: str, *, every: bool) -> None:
    if count > _SHOWN and not every:
        echo(f"The {_SHOWN} {which} of {count} {what}; --all lists every one.")


def _traffic(about: Mapping[str, Any]) -> str:
    return f"seed {about['seed']}, {about['streams']} streams"


def _time(at: float) -> str:
    return datetime.datetime.fromtimestamp(at, datetime.UTC).isoformat(timespec="seconds")


def _arrow(link: Mapping[str, Any]) -> str:
    return f"{link['source']} -> {link['target']}"


def _mbit(rate: float) -> str:
    return f"{rate / 1e6:.1f} Mbit/s"


def _rate(rate: float | None) -> str:
    return "" if rate is None else f"{rate / 1e6:.1f}"


def _parts(names: Sequence[str], pairs: Mapping[tuple[str, str], float]) -> Iterator[Sequence[str]]:
    """The names of the columns of a matrix, as many at a time as the terminal has room for."""
    widest = max((len(word) for word in (*names, *map(_rate, pairs.values()))), default=1) + 2
    at_once = max(1, Console().width // widest - 1)
    for begin in range(0, len(names), at_once):
        yield names[begin : begin + at_once]


def _columns(first: str, *numbers: str) -> list[Column]:
    """The first column is words, the others are numbers."""
    return [Column(first), *(Column(head, number=True) for head in numbers)]


def _json(document: Any) -> None:
    echo(json.dumps(document))
