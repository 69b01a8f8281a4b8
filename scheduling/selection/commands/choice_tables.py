"""What `gridportal select` prints beside the groups: what a better link buys, and why other nodes were not taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from gridportal.base.printed_table import Column, show_table
from scheduling.jobs.core.explanation import Explanation, NextLink, NodeReason
from scheduling.messages import message
from scheduling.messages.node_messages import kind
from scheduling.messages.selection_messages import better_link

NODES_SHOWN = 48


def left_document(explanation: Explanation, nodes: Sequence[NodeReason]) -> dict[str, Any]:
    """Every node with its sentence, and how many there are of each kind."""
    counts = [
        {"code": each.reason.code.value, "kind": kind(each.reason), "nodes": each.nodes} for each in explanation.counts
    ]
    everyone = [{"node": each.node, "code": each.reason.code.value, "reason": message(each.reason)} for each in nodes]
    return {"counts": counts, "nodes": everyone}


def show_next_link(better: NextLink | None) -> None:
    """One line; none where there is nothing to tell."""
    if better:
        typer.echo(better_link(better))


def show_left(explanation: Explanation, nodes: Sequence[NodeReason]) -> None:
    """The counts, then nodes one by one."""
    if not nodes:
        typer.echo("No node was left.")
        return
    counts = [(str(each.nodes), kind(each.reason)) for each in explanation.counts]
    show_table((Column("Nodes", number=True), Column("Why", wraps=True)), counts, title="Not taken")
    rows = [(each.node, message(each.reason)) for each in nodes[:NODES_SHOWN]]
    show_table((Column("Node", wraps=True), Column("Why it was not taken", wraps=True)), rows)
    if len(nodes) > NODES_SHOWN:
        typer.echo(f"The first {NODES_SHOWN} of {len(nodes)} nodes; --json lists all.")
