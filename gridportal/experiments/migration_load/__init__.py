"""Migration 2003, figure 4: whether jobs are moved when that pays, for several amounts of load."""

from __future__ import annotations

from gridportal.experiments.interface import Experiment
from gridportal.experiments.migration_load.measurement import measurement
from gridportal.experiments.migration_load.paper import PAPER
from gridportal.experiments.moves.move_report import columns, finding, functions
from gridportal.experiments.moves.request_nodes import ONE_PROCESSOR

_TABLES, _FIGURE = functions("processes", "busy processes on each node")

EXPERIMENT = Experiment(
    name="migration-load",
    order=61,
    about="Migration 2003, 8.1, figure 4: whether moving a QR factorization away from loaded "
    "nodes pays, for several amounts of load."
    f" {ONE_PROCESSOR}",
    help="whether jobs are moved when that pays, for several amounts of load",
    duration="about half an hour, one case with --only in about 6 minutes",
    measurement=measurement,
    tables=_TABLES,
    figure=_FIGURE,
    caption="Seconds from submission to end of a QR factorization that stayed, and of one that was moved, "
    "by the number of busy processes that came to each of its four nodes in the twentieth minute (figure 4).",
    finding=finding,
    paper=PAPER,
    columns=columns(PAPER),
    options=("only",),
)
