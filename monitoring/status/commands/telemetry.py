"""`gridportal telemetry ...`: whether the sources of a cluster answer, what probing costs, what the store takes."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from gridportal.base.printed_table import Column, show_table
from gridportal.base.printed_text import echo
from gridportal.base.typed_options import HELP, Commands
from gridportal.web.command_database import database

app = typer.Typer(
    help="The sources of a cluster's figures, and whether they answer.",
    cls=Commands,
    context_settings=HELP,
    no_args_is_help=True,
)
_SHOWN = 5


@app.callback()
def everywhere() -> None:
    """The sources of a cluster's figures, and whether they answer."""


@app.command()
def status(
    cluster: Annotated[
        str | None, typer.Option(help="A cluster of the portal in GRIDPORTAL_HOME; else its first.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Show the sources of a cluster, what share of links probes use, and the store; exit code 1 when one is stale."""
    document = _document(cluster)
    if as_json:
        echo(json.dumps(document, allow_nan=False))
    else:
        _show(document)
    if any(source["stale"] for source in document["sources"]):
        raise typer.Exit(1)


def _document(cluster: str | None) -> dict[str, Any]:
    with database():
        from monitoring.clusters import selectors as clusters_selectors
        from monitoring.status.selectors.health import as_document, health

        name = clusters_selectors.setting(cluster or clusters_selectors.default_cluster()).name
        found = clusters_selectors.cluster(name)
        if found is None:
            raise clusters_selectors.never_reached(name)
        return as_document(health(found))


def _show(document: dict[str, Any]) -> None:
    # Late: these need Django, which is set up by now.
    from gridportal.web.templatetags.units import duration, fine_percent, size

    columns = (
        Column("Source"),
        Column("Kind", spare=3),
        Column("State", wraps=True),
        Column("Last answer", wraps=True),
        Column("Lag", number=True, spare=2),
        Column("Samples", number=True, spare=1),
        Column("Asked so far", number=True),
    )
    rows = [
        (
            row["name"],
            row["kind"],
            f"stale: {row['reason']}" if row["stale"] else "answers",
            "never" if row["age"] is None else f"{duration(row['age'])} ago" + (", in part" if row["partly"] else ""),
            duration(row["lag"]),
            f"{row['samples']:,}",
            size(row["total_bytes"]),
        )
        for row in document["sources"]
    ]
    show_table(columns, rows, title=f"Telemetry of {document['cluster']}")
    probing, store = document["probing"], document["store"]
    for link in probing["links"][:_SHOWN]:
        text = f"{link['source']}-{link['target']}: {fine_percent(link['share'])} of the peak for probes"
        echo(f"{text}, of {fine_percent(probing['bound'])} that they may take")
    if (many := len(probing["links"])) > _SHOWN:
        echo(f"these are the {_SHOWN} of {many} links that bear most; --json has all")
    each = f", {store['bytes_per_sample']:.1f} bytes a sample" if store["bytes_per_sample"] else ""
    echo(f"{store['samples']:,} samples of {store['series']:,} series in {size(store['bytes'])}{each}")
