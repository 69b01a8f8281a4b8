"""The command `gridportal demo`."""

from __future__ import annotations

from typing import Annotated

import typer

from gridportal.serve.demo.choices import CLASSES


def demo_command(
    once: Annotated[bool, typer.Option("--once", help="End after the demo job; exit 0 only if it verified.")] = False,
    port: Annotated[int, typer.Option(help="Port of the web server; the next free one if it is taken.")] = 8000,
    topology: Annotated[str, typer.Option(help="Topology of the emulated Grid: a name or a file.")] = "crossbar10",
    klass: Annotated[str, typer.Option("--class", help=f"NAS class of the demo job: {', '.join(CLASSES)}.")] = "W",
    streams: Annotated[
        int | None,
        typer.Option(help="Streams of other traffic on the Grid at the start; 0: none.", show_default="5 for 3 links"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The job's story as one JSON document.")] = False,
) -> None:
    """Start the whole portal on this machine, submit one NAS CG job and show its story."""
    from gridportal.serve.demo.demo_set import Demo

    raise typer.Exit(Demo(port=port, topology=topology, klass=klass, streams=streams, once=once, as_json=as_json).run())
