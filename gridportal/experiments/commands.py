"""`gridportal experiment NAME`: repeat what a paper measured, on the emulated Grid, and show both."""

from __future__ import annotations

import json
import signal
from contextlib import nullcontext
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from gridportal.base.printed_table import Column, show_table
from gridportal.base.printed_text import echo, visible
from gridportal.experiments import registry
from gridportal.experiments.engine import run
from gridportal.experiments.exclusive import exclusive
from gridportal.experiments.interface import Experiment, Result
from gridportal.experiments.plan import MAX_SEED, Plan, base_folder
from gridportal.experiments.record import Record
from gridportal.experiments.test_grid import own_grids

_WHICH = (
    ", ".join(f"{each.name} ({each.duration})" for each in registry.experiments())
    + ". The times are those of two cores."
)
_WHERE = (
    "Folder of its trials; given again, the experiment goes on where it stopped. Default: experiments/NAME-SEED, with "
    "--full NAME-SEED-full, below GRIDPORTAL_HOME, or below var of the checkout where that is not set."
)


def experiment_command(
    name: Annotated[str, typer.Argument(help=_WHICH)],
    seed: Annotated[int, typer.Option(help="The same seed gives the same traffic.", min=0, max=MAX_SEED)] = 1,
    out: Annotated[Path | None, typer.Option(help=_WHERE)] = None,
    full: Annotated[
        bool, typer.Option("--full", help="The full experiment: a night in place of some minutes.")
    ] = False,
    foreign: Annotated[
        bool,
        typer.Option(
            "--foreign", help="skeletons: programs in C and Fortran that are not the project's own; 45 minutes."
        ),
    ] = False,
    only: Annotated[
        str,
        typer.Option(
            help="skeletons: one program, such as cg or, with --foreign, halo; cactus: one part, such as shares; "
            "migration-size and the like: one case, such as 8000; a wrong name lists all."
        ),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Repeat an experiment of the papers; Ctrl-C stops it after the current trial, the same command resumes it."""
    experiment, plan = registry.named(name), Plan(name, seed, full, foreign, only)
    experiment.check(plan)
    folder = out or plan.folder_in(base_folder())
    with exclusive(base_folder(), folder):
        result, trials = _run(experiment, plan, folder)
    if as_json:
        echo(json.dumps(result, allow_nan=False))
    else:
        show(experiment, result, Console())
    if not result["complete"]:
        echo(f"Stopped after {trials} trials; the same command goes on from there.", err=True)
        raise typer.Exit(130)
    if result["failed"]:
        raise typer.Exit(1)


def show(experiment: Experiment, result: Result, console: Console) -> None:
    """The result as tables for people, the paper's figures beside ours, and what was found."""
    for table in experiment.tables(result):
        if table.rows and not table.detail:
            columns = [Column(head, wraps=True) for head in table.heads]
            show_table(columns, table.rows, title=table.title, console=console)
    console.print(visible(experiment.finding(result)), highlight=False, markup=False)
    for key, reason in result["failed"].items():
        console.print(visible(f"{key} failed: {reason}"), highlight=False, markup=False)


def _run(experiment: Experiment, plan: Plan, folder: Path) -> tuple[dict[str, Any], int]:
    record = Record(folder, plan.document())
    record.forget_stop()
    stop = _Stop()
    console = Console(stderr=True)
    with stop, own_grids(folder) as grids, _bar(console) as bar:
        task = bar.add_task(plan.name, total=None) if bar else None

        def watch(done: int, of: int, now: str) -> None:
            if bar and task is not None:
                bar.update(task, completed=done, total=of, description=f"{plan.name} {now}")

        measurement = experiment.measurement(plan, folder, grids)
        return run(measurement, experiment.paper, record, watch, lambda: stop.wanted), len(record.done)


class _Stop:
    """TERM and Ctrl-C ask for the end; a second Ctrl-C does not wait for the trial."""

    def __init__(self) -> None:
        self.wanted = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Stop:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._asked)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _asked(self, _number: int, _frame: FrameType | None) -> None:
        if self.wanted:
            raise KeyboardInterrupt
        self.wanted = True


def _bar(console: Console) -> Any:
    """A progress bar on a terminal, nothing else where."""
    if not console.is_terminal:
        return nullcontext()
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=console
    )
