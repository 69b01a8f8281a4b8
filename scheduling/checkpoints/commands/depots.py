"""`gridportal depots`: who has how much in the depots of each cluster."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gridportal.base.printed_table import Column, show_table
from gridportal.web.command_database import database

if TYPE_CHECKING:
    from scheduling.checkpoints.services.depot_use import ClusterUse, NodeUse


def depots_command(
    cluster: Annotated[str, typer.Option(help="Of this cluster alone. Default: of all.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """What jobs have in the depots of each node: bytes, limits, age, and what is free."""
    with database():
        from scheduling.checkpoints.services.depot_use import depot_use

        clusters = [_document(use) for use in depot_use(cluster)]
    if as_json:
        typer.echo(json.dumps({"clusters": clusters}))
        return
    for each in clusters:
        _tell(each)
    if not clusters:
        typer.echo(f"The cluster {cluster} has no depots." if cluster else "No cluster has depots.")


def _document(use: ClusterUse) -> dict[str, Any]:
    return {"cluster": use.cluster, "problem": use.problem, "nodes": [_node(each) for each in use.nodes]}


def _node(use: NodeUse) -> dict[str, Any]:
    report = use.report
    jobs = [
        {
            "name": row.name,
            "job": row.job.pk if row.job else None,
            "owner": row.job.owner.username if row.job else None,
            "bytes": row.bytes,
            "shards": row.shards,
            "written_at": row.written_at.isoformat() if row.written_at else None,
        }
        for row in use.jobs
    ]
    limits = {"bytes": report.bytes, "space": report.space, "job_space": report.job_space, "free": report.free}
    return {"node": report.node, **limits, "problem": report.problem, "jobs": jobs}


def _tell(each: dict[str, Any]) -> None:
    if each["problem"]:
        typer.echo(f"{each['cluster']}: {each['problem']}")
        return
    columns = [Column("node"), Column("job"), Column("owner", spare=2), Column("bytes", number=True)]
    columns += [Column("limit", number=True), Column("free", number=True), Column("written, UTC", wraps=True)]
    cells = [cell for node in each["nodes"] for cell in _cells(node)]
    show_table(columns, cells, title=f"Depots of {each['cluster']}")


def _cells(node: dict[str, Any]) -> list[tuple[str, ...]]:
    """A line for the node, then one for each of its jobs."""
    limits = (_shown(node["space"]), _shown(node["free"]))
    first = (node["node"], "all", "", str(node["bytes"]), *limits, node["problem"] or "—")
    return [first, *((node["node"], *_job_cells(row, node["job_space"])) for row in node["jobs"])]


def _job_cells(row: dict[str, Any], most: int | None) -> tuple[str, ...]:
    left = None if most is None else max(0, most - row["bytes"])
    at = row["written_at"][:19].replace("T", " ") if row["written_at"] else "—"
    return (str(row["job"] or row["name"]), row["owner"] or "—", str(row["bytes"]), _shown(most), _shown(left), at)


def _shown(count: int | None) -> str:
    return "—" if count is None else str(count)
