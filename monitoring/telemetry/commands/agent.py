"""`gridportal agent ...`: a key for the agents of a cluster, and how each of them is."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from gridportal.base.clusters import Cluster as Setting
from gridportal.base.errors import InputError
from gridportal.base.printed_table import Column, show_table
from gridportal.base.printed_text import echo
from gridportal.base.typed_options import HELP, Commands
from gridportal.web.command_database import database
from monitoring.telemetry.adapters.agent_answers import Answer, Failure, Round

app = typer.Typer(
    help="The agents, which report each node's figures: python -m gridportal.runtime.agent.",
    cls=Commands,
    context_settings=HELP,
    no_args_is_help=True,
)
_Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]


@app.command()
def key(file: Annotated[Path, typer.Argument(help="The file to write, in a folder that exists.")]) -> None:
    """Make a key that the portal and the agents of a cluster share, in a file that only its owner may read."""
    try:
        descriptor = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except OSError as error:
        raise InputError(
            "file", str(file), f"a file that is not there yet, in a folder to write to ({error})"
        ) from error
    with os.fdopen(descriptor, "w", encoding="ascii") as out:
        out.write(secrets.token_urlsafe(32) + "\n")
    echo(f"{file} holds a new key; copy it to every node, mode 600, and name it as agent_key of the cluster.")


@app.command()
def status(
    cluster: Annotated[
        str | None, typer.Option(help="A cluster of the portal in GRIDPORTAL_HOME; else its first.")
    ] = None,
    as_json: _Json = False,
) -> None:
    """Ask every agent of a cluster, and show its figures, or why it does not answer; exit code 1 when one does not."""
    found, nodes, asked = _asked(cluster)
    document = {
        "cluster": found.name,
        "seconds": asked.seconds,
        "agents": [_row(node, asked.answers.get(node), asked.failures.get(node)) for node in nodes],
    }
    if as_json:
        echo(json.dumps(document))
    else:
        _show(document)
    if asked.failures:
        raise typer.Exit(1)


def _asked(cluster: str | None) -> tuple[Setting, list[str], Round]:
    with database():
        from monitoring.clusters import selectors as clusters_selectors
        from monitoring.telemetry.adapters import agent_source
        from monitoring.telemetry.services import agents

        configured = clusters_selectors.setting(cluster or clusters_selectors.default_cluster())
        nodes = clusters_selectors.compute_names(configured.name)
        if not nodes:
            raise clusters_selectors.never_reached(configured.name)
        if not agents.has_agents(configured):
            raise InputError("cluster", configured.name, "a cluster with agents in GRIDPORTAL_CLUSTERS")
        return configured, nodes, agent_source.status(agents.agents(configured, nodes))


def _row(node: str, answer: Answer | None, failure: Failure | None) -> dict[str, Any]:
    if answer is None:
        return {"node": node, "error": failure.reason if failure else "it was not asked", "at": time.time()}
    document = answer.document
    return {
        **{
            name: document.get(name)
            for name in ("node", "cpu", "load", "memory", "disk", "interfaces", "runs", "probe")
        },
        "clock_offset": answer.clock_offset,
        "round_trip": answer.round_trip,
    }


def _show(document: dict[str, Any]) -> None:
    show_table(
        (
            Column("Node"),
            Column("Processor free", number=True),
            Column("Load", number=True),
            Column("Of runs", number=True),
            Column("Memory free", number=True),
            Column("Clock", number=True, spare=1),
            Column("Round trip", number=True, spare=2),
        ),
        [_cells(row) for row in document["agents"] if "error" not in row],
        title=f"Agents of {document['cluster']}",
    )
    if silent := [(row["node"], row["error"]) for row in document["agents"] if "error" in row]:
        show_table((Column("No answer of"), Column("Why", wraps=True)), silent)


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    own = sum(run["load"] for run in row["runs"].values())
    return (
        row["node"],
        f"{row['cpu']:.2f}",
        f"{row['load']:.2f}",
        f"{own:.2f}",
        f"{row['memory'][0] / 2**30:.1f} GiB",
        f"{row['clock_offset'] * 1e3:+.1f} ms",
        f"{row['round_trip'] * 1e3:.2f} ms",
    )
