"""`gridportal depots`: who has how much in the depots of each cluster."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gridportal.base.printed_table import Column, show_table
from gridportal.base.printed_text import echo
from gridportal.web.command_database import database

if TYPE_CHECKING:
    from scheduling.checkpoints.services.depot_use import ClusterUse, JobUse, NodeUse


def depots_command(
    cluster: Annotated[str, typer.Option(help="Of this cluster alone. Default: of all.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """What jobs have in the depots of each node: bytes, limits, age, and what is free."""
    with database():
        from scheduling.checkpoints.services.depot_use import depot_use

        clusters = depot_use(cluster)
        documents = [_cluster_document(use) for use in clusters]
    if as_json:
        echo(json.dumps({"clusters": documents}))
        return
    for use in clusters:
        _tell(use)
    if not clusters:
        echo(f"The cluster {cluster} has no depots." if cluster else "No cluster has depots.")


def _cluster_document(use: ClusterUse) -> dict[str, Any]:
    return {"cluster": use.cluster, "problem": use.problem, "nodes": [_node_document(each) for each in use.nodes]}


def _node_document(use: NodeUse) -> dict[str, Any]:
    report, jobs = use.report, [_job_document(row) for row in use.jobs]
    limits = {"bytes": report.bytes, "space": report.space, "job_space": report.job_space, "free": report.free}
    return {"node": report.node, **limits, "problem": report.problem, "jobs": jobs}


def _job_document(row: JobUse) -> dict[str, Any]:
    return {
        "name": row.name,
        "job": row.job.pk if row.job else None,
        "owner": row.job.owner.username if row.job else None,
        "bytes": row.bytes,
        "shards": row.shards,
        "written_at": row.written_at.isoformat() if row.written_at else None,
    }


def _tell(use: ClusterUse) -> None:
    if use.problem:
        echo(f"{use.cluster}: {use.problem}")
        return
    columns = [Column("Node"), Column("Job"), Column("Owner", spare=2), Column("Size", number=True)]
    columns += [Column("Limit", number=True), Column("Free", number=True), Column("Written, UTC", wraps=True)]
    show_table(columns, [cells for node in use.nodes for cells in _cells(node)], title=f"Depots of {use.cluster}")


def _cells(use: NodeUse) -> list[tuple[str, ...]]:
    """A line for the node, then one for each of its jobs."""
    report = use.report
    limits = (_shown(report.bytes), _shown(report.space), _shown(report.free))
    first = (report.node, "all jobs", "", *limits, report.problem or "—")
    return [first, *((report.node, *_job_cells(row, report.job_space)) for row in use.jobs)]


def _job_cells(row: JobUse, most: int | None) -> tuple[str, ...]:
    left = None if most is None else max(0, most - row.bytes)
    at = f"{row.written_at:%Y-%m-%d %H:%M:%S}" if row.written_at else "—"
    owner = row.job.owner.username if row.job else "—"
    return (str(row.job.pk) if row.job else row.name, owner, _shown(row.bytes), _shown(most), _shown(left), at)


def _shown(count: int | None) -> str:
    from gridportal.web.templatetags.units import size

    return size(count)
