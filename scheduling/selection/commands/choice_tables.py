"""What `gridportal select` prints beside the groups: what a better link buys, and why other nodes were not taken."""

from __future__ import annotations

from gridportal.base.printed_table import Column, show_table
from gridportal.base.printed_text import echo
from scheduling.jobs.core.explanation import Explanation, NextLink
from scheduling.messages import message
from scheduling.messages.node_messages import kind
from scheduling.messages.selection_messages import better_link

NODES_SHOWN = 48


def show_next_link(better: NextLink | None) -> None:
    """One line; none where there is nothing to tell."""
    if better:
        echo(better_link(better))


def show_left(explanation: Explanation) -> None:
    """The counts, then nodes one by one."""
    nodes = explanation.nodes
    if not nodes:
        echo("No node was left.")
        return
    counts = [(str(each.nodes), kind(each.reason)) for each in explanation.counts]
    show_table((Column("Nodes", number=True), Column("Why", wraps=True)), counts, title="Not taken")
    rows = [(each.node, message(each.reason)) for each in nodes[:NODES_SHOWN]]
    show_table((Column("Node", wraps=True), Column("Why it was not taken", wraps=True)), rows)
    if len(nodes) > NODES_SHOWN:
        echo(f"The first {NODES_SHOWN} of {len(nodes)} nodes; --json lists all.")
