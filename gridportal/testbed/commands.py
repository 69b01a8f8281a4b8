"""`gridportal testbed ...`: build the emulated Grid, look at it, disturb it, measure it, take it down."""

from __future__ import annotations

import signal
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from gridportal.base.errors import InputError
from gridportal.base.typed_options import HELP, Commands
from gridportal.testbed import command_tables
from gridportal.testbed.client import Grid
from gridportal.testbed.slurm import place
from gridportal.testbed.state import State, default_directory

app = typer.Typer(
    help="The emulated Grid: nodes, switches and shaped links on this machine.",
    cls=Commands,
    context_settings=HELP,
    no_args_is_help=True,
)

_State = Annotated[Path | None, typer.Option("--state-dir", help="State directory; default $GRIDPORTAL_HOME/grid.")]
_Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]
_Seconds = Annotated[float | None, typer.Option(help="End after so many seconds.")]
_Stop = Annotated[bool, typer.Option("--stop", help="Stop instead.")]
_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


@app.command()
def up(
    topology: Annotated[
        str, typer.Argument(help="cactus, cmu8, crossbar10, grads, grads-whole, smp6, or a topology file.")
    ] = "crossbar10",
    foreground: Annotated[
        bool, typer.Option("--foreground", help="Stay; the Grid ends with this process, by whatever means.")
    ] = False,
    slurm: Annotated[bool, typer.Option("--slurm", help="A real Slurm on its nodes; root only.")] = False,
    accounting: Annotated[
        bool, typer.Option("--slurm-accounting", help="The same with slurmdbd and a database, for sacct.")
    ] = False,
    state: _State = None,
    as_json: _Json = False,
) -> None:
    """Build the Grid and test that its links have their shaped rates."""
    from gridportal.testbed import launch

    root = state or default_directory()
    if foreground:
        _end_with_terminal()
    wanted: launch.Slurm = "accounting" if accounting else "slurm" if slurm else ""
    process, status = launch.up(topology, root, with_parent=foreground, slurm=wanted)
    document = {**status, "slurm": Grid(root).slurm_info(), "state_dir": str(State(root).root)}
    if not foreground:
        return command_tables.show_status(document, as_json=as_json)
    try:
        command_tables.show_status(document, as_json=as_json)
        process.wait()
    except KeyboardInterrupt:
        pass
    finally:
        launch.down(State(root))
    return None


@app.command()
def status(
    every: Annotated[bool, typer.Option("--all", help="Every link and run, not only the slowest and latest.")] = False,
    state: _State = None,
    as_json: _Json = False,
) -> None:
    """Show the Grid's nodes, load, traffic and runs, the bandwidth of its links now, and how to reach its Slurm."""
    grid = _grid(state)
    document = {**grid.status(), "slurm": grid.slurm_info(), "links": grid.topology()["links"]}
    if document["slurm"]:
        document["slurm"]["sinfo"] = place.sinfo(document["slurm"]["prefix"])
    command_tables.show_status(document, as_json=as_json, every=every)


@app.command(context_settings=_PASS_ON)
def run(
    context: typer.Context,
    nodes: Annotated[
        str, typer.Argument(help="Node names with commas between, in rank order; a name may stand there several times.")
    ],
    timeout: Annotated[float, typer.Option(help="Kill it after so many seconds.")] = 60.0,
    state: _State = None,
    as_json: _Json = False,
) -> None:
    """Run a command on nodes: `testbed run n1,n2 -- hostname`. An mpiexec runs once, with its ranks on the nodes."""
    if not context.args:
        raise InputError("command", None, "what to run, after --, as in: gridportal testbed run n1,n2 -- hostname")
    done = _grid(state).run(_names(nodes), context.args, timeout)
    command_tables.show_outputs(done, as_json=as_json)
    if any(each["exit_code"] != 0 for each in done):
        raise typer.Exit(1)


@app.command()
def traffic(
    seed: Annotated[int, typer.Option(help="The same seed gives the same traffic.")] = 0,
    time_scale: Annotated[float, typer.Option(help="30 s of the model take 30/TIME_SCALE s.")] = 1.0,
    streams: Annotated[int, typer.Option(help="How many streams start at once.")] = 0,
    seconds: _Seconds = None,
    stop: _Stop = False,
    state: _State = None,
    as_json: _Json = False,
) -> None:
    """Replay the traffic model of Pattern 2003, 3.3: streams enter and leave links."""
    grid = _grid(state)
    before = grid.status()["traffic"]
    about = grid.traffic(seed, time_scale, streams, seconds, stop)
    command_tables.show_traffic(about, before, as_json=as_json)


@app.command()
def load(
    nodes: Annotated[list[str] | None, typer.Argument(help="Node names.")] = None,
    processes: Annotated[int, typer.Option(help="Busy processes on each node.")] = 1,
    seconds: _Seconds = None,
    stop: _Stop = False,
    state: _State = None,
    as_json: _Json = False,
) -> None:
    """Start processes that compete for the processor of nodes."""
    names = _names(",".join(nodes or []))
    if not names and not stop:
        raise InputError("nodes", "", "the names of the nodes to load")
    command_tables.show_load(_grid(state).load(names or None, processes, seconds, stop), as_json=as_json)


@app.command("load-model")
def load_model(
    seed: Annotated[int, typer.Option(help="The same seed gives the same jobs.", min=0)] = 0,
    gap: Annotated[float | None, typer.Option(help="Mean seconds between the jobs of a node; default 12.")] = None,
    stop: _Stop = False,
    state: _State = None,
    as_json: _Json = False,
) -> None:
    """Let compute jobs come to every node and go, as in Selection 1999, 4.2."""
    about = _grid(state).load_model(seed, {} if gap is None else {"gap": gap}, stop)
    command_tables.show_model("load model", about, as_json=as_json)


@app.command("traffic-model")
def traffic_model(
    seed: Annotated[int, typer.Option(help="The same seed gives the same messages.", min=0)] = 0,
    gap: Annotated[float | None, typer.Option(help="Mean seconds between messages; default 2.2.")] = None,
    stop: _Stop = False,
    state: _State = None,
    as_json: _Json = False,
) -> None:
    """Send messages between random nodes over real connections, as in Selection 1999, 4.2."""
    about = _grid(state).traffic_model(seed, {} if gap is None else {"gap": gap}, stop)
    command_tables.show_model("traffic model", about, as_json=as_json)


@app.command()
def probe(
    nodes: Annotated[str, typer.Option(help="Only these nodes, with commas between.")] = "",
    state: _State = None,
    as_json: _Json = False,
) -> None:
    """Measure the bandwidth of every ordered pair of nodes by real transfers."""
    command_tables.show_probe(_grid(state).probe(_names(nodes) or None), as_json=as_json)


@app.command()
def slurm(
    action: Annotated[str, typer.Argument(help="kill, restart, freeze or thaw.")],
    what: Annotated[str, typer.Argument(help="ctld, munge, dbd, db, slurmd, or node: all that runs on one.")],
    node: Annotated[str | None, typer.Argument(help="Whose slurmd, or which node.")] = None,
    state: _State = None,
    as_json: _Json = False,
) -> None:
    """Stop parts of the Grid's Slurm, and start them: `testbed slurm kill slurmd n3`, `testbed slurm restart ctld`."""
    view = _grid(state).slurm(action, what, node)
    command_tables.show_facts("Slurm", {each["name"]: each["state"] for each in view["daemons"]}, as_json=as_json)


@app.command()
def down(state: _State = None, as_json: _Json = False) -> None:
    """Take the Grid down, or clean up after one that crashed."""
    grid = _grid(state)
    grid.down()
    command_tables.show_facts("Grid", {"state": "down"}, as_json=as_json)


def _grid(state: Path | None) -> Grid:
    return Grid(state or default_directory())


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _end_with_terminal() -> None:
    """TERM and Ctrl-C take the Grid down, also where a shell has started this in the background, with INT ignored."""

    def interrupt(_signum: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, interrupt)
