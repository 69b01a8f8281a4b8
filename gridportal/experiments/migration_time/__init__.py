"""Migration 2003, figure 5: whether jobs are moved when that pays, early and late in their time."""

from __future__ import annotations

from gridportal.experiments.interface import Experiment
from gridportal.experiments.migration_time.measurement import measurement
from gridportal.experiments.migration_time.paper import PAPER
from gridportal.experiments.moves.move_report import columns, finding, functions
from gridportal.experiments.moves.request_nodes import ONE_PROCESSOR

_TABLES, _FIGURE = functions("minutes", "minutes in the paper after which the load came")

EXPERIMENT = Experiment(
    name="migration-time",
    order=62,
    about="Migration 2003, 8.1, figure 5: whether moving a QR factorization away from loaded "
    "nodes pays, for load that comes early or late."
    f" {ONE_PROCESSOR}",
    help="whether jobs are moved when that pays, early and late in their time",
    duration="about half an hour, one case with --only in about 6 minutes",
    measurement=measurement,
    tables=_TABLES,
    figure=_FIGURE,
    caption="Seconds from submission to end of a QR factorization that stayed, and of one that was moved, "
    "by the minute in which seven busy processes came to each of its four nodes (figure 5).",
    finding=finding,
    paper=PAPER,
    columns=columns(PAPER),
    options=("only",),
)
