"""`gridportal network ...`: ask what flows would get, draw a part of a network, check and convert topology files."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Annotated, Literal

import typer

from gridportal.base.errors import InputError
from gridportal.base.printed_text import echo
from gridportal.base.rates import parse_rate
from gridportal.base.typed_options import HELP, Commands
from gridportal.network.flows import flow_query
from gridportal.network.importers import graphml
from gridportal.network.importers.hostlist import expand
from gridportal.network.logical import logical_topology
from gridportal.network.topology import Topology, dump
from gridportal.web.command_database import database
from monitoring.status.commands.network_tables import show_flows, show_logical
from monitoring.status.core import remos
from monitoring.telemetry.adapters import topology_file

app = typer.Typer(
    help="Questions about the network, and checks of topology files.",
    cls=Commands,
    context_settings=HELP,
    no_args_is_help=True,
)

_Topology = Annotated[str | None, typer.Option(help="A topology file or a shipped one, in place of a cluster.")]
_Cluster = Annotated[str | None, typer.Option(help="A cluster of the portal in GRIDPORTAL_HOME; else its first.")]
_Window = Annotated[str | None, typer.Option(help="Over the past 15m, 1h, 7d, ... in place of now.")]
_Forecast = Annotated[bool, typer.Option("--forecast", help="As forecast, in place of now.")]
_ForecastOver = Annotated[
    str | None, typer.Option("--ahead", help="As forecast over the next 15m, 1h, ..., in place of now.")
]
_Capacity = Annotated[str | None, typer.Option(help="bit/s of links without one, such as 10G.")]
_File = Annotated[str, typer.Argument(help="Node-link JSON, GraphML, topology.conf, or the output of ibnetdiscover.")]
_Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]


@app.command()
def flows(
    flows: Annotated[
        list[str],
        typer.Argument(help="Flows asked together: n1:n3, or 'n1>n3' in quotes; n1:n3@50M for at most 50 Mbit/s."),
    ],
    topology: _Topology = None,
    cluster: _Cluster = None,
    window: _Window = None,
    forecast: _Forecast = False,
    forecast_over: _ForecastOver = None,
    capacity: _Capacity = None,
    half_duplex: Annotated[
        bool, typer.Option("--half-duplex", help="Both directions of a link share one medium.")
    ] = False,
    as_json: _Json = False,
) -> None:
    """Say what each of several flows would get when all are sent at once, and which link holds it back."""
    asked = [remos.parse_flow(text) for text in flows]
    when = remos.parse_when(window, forecast_over, topology, forecast=forecast)
    if topology is not None:
        network = _file(topology, cluster, capacity)
        rates = flow_query(network, asked, half_duplex=half_duplex)
        answer = remos.flows_document(rates, time.time(), {"topology": network.name})
    else:
        with _queries() as queries:
            answer = queries.flows(cluster, asked, when=when, half_duplex=half_duplex)
    if as_json:
        echo(json.dumps(answer, allow_nan=False))
    else:
        show_flows(answer)


@app.command()
def logical(
    nodes: Annotated[list[str], typer.Argument(help="Compute nodes, or host lists such as n[1-4].")],
    topology: _Topology = None,
    cluster: _Cluster = None,
    window: _Window = None,
    forecast: _Forecast = False,
    forecast_over: _ForecastOver = None,
    capacity: _Capacity = None,
    as_json: _Json = False,
) -> None:
    """Draw the part of the network that matters for some nodes, chains of switches as one link."""
    when = remos.parse_when(window, forecast_over, topology, forecast=forecast)
    if topology is not None:
        network = _file(topology, cluster, capacity)
        known = {node.id for node in network.nodes}  # a name may look like a host list
        names = [name for text in nodes for name in ([text] if text in known else expand(text))]
        answer = remos.logical_document(logical_topology(network, names), time.time(), {"topology": network.name})
    else:
        with _queries() as queries:
            names = [name for text in nodes for name in expand(text)]
            answer = queries.logical(cluster, names, when=when)
    if as_json:
        echo(json.dumps(answer, allow_nan=False))
    else:
        show_logical(answer)


@app.command()
def check(
    file: _File,
    nodes: Annotated[str | None, typer.Option(help="The nodes that the cluster has, such as n[1-64].")] = None,
    capacity: _Capacity = None,
    as_json: _Json = False,
) -> None:
    """Name everything that is wrong with a topology file; exit code 2 when something is."""
    cluster_nodes = None if nodes is None else set(expand(nodes))
    peak = None if capacity is None else parse_rate(capacity, "capacity")
    examined = topology_file.examine(file, nodes=cluster_nodes, capacity=peak)
    problems = [str(problem) for problem in examined.problems]
    if as_json:
        document = {"file": file, "format": examined.format, "nodes": examined.nodes, "links": examined.links}
        echo(json.dumps({**document, "problems": problems}))
    else:
        for problem in problems:
            echo(problem, err=True)
        if capacity is None and any("no capacity is known" in problem for problem in problems):
            echo(
                "Give one in the file (in topology.conf LinkSpeed=10G), or to all such links: --capacity 10G.", err=True
            )
        verdict = f"{len(problems)} wrong" if problems else "nothing is wrong"
        echo(f"{file}: {examined.format}, {examined.nodes} nodes, {examined.links} links, {verdict}.")
    if problems:
        raise typer.Exit(2)


@app.command()
def convert(
    file: _File,
    to: Annotated[Literal["node-link", "graphml"], typer.Option(help="The format to print.")] = "node-link",
    capacity: _Capacity = None,
) -> None:
    """Print a topology file in another format; networkx reads both."""
    peak = None if capacity is None else parse_rate(capacity, "capacity")
    network = topology_file.load(file, capacity=peak)
    if to == "graphml":
        echo(graphml.dumps(network))
    else:
        echo(json.dumps(dump(network), indent=1, allow_nan=False))


def _file(topology: str, cluster: str | None, capacity: str | None) -> Topology:
    if cluster is not None:
        raise InputError("cluster", cluster, "either --topology or --cluster")
    return topology_file.load(topology, capacity=None if capacity is None else parse_rate(capacity, "capacity"))


@contextmanager
def _queries() -> Iterator[ModuleType]:
    """The queries about clusters, on the database of this home."""
    with database():
        from monitoring.status.selectors import remos_queries as queries

        yield queries
