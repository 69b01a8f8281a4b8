"""Migration 2003, figure 3: whether jobs of several sizes are moved when that pays."""

from __future__ import annotations

from gridportal.experiments.interface import Experiment
from gridportal.experiments.migration_size.measurement import measurement
from gridportal.experiments.migration_size.paper import PAPER
from gridportal.experiments.moves.move_report import columns, finding, functions
from gridportal.experiments.moves.request_nodes import ONE_PROCESSOR

_TABLES, _FIGURE = functions("size", "rows of the matrix in the paper")

EXPERIMENT = Experiment(
    name="migration-size",
    order=60,
    about="Migration 2003, 8.1, figure 3: whether moving a QR factorization away from loaded "
    "nodes pays, for matrices of several sizes."
    f" {ONE_PROCESSOR}",
    help="whether jobs of several sizes are moved when that pays",
    duration="about half an hour, one case with --only in about 6 minutes",
    measurement=measurement,
    tables=_TABLES,
    figure=_FIGURE,
    caption="Seconds from submission to end of a QR factorization that stayed, and of one that was moved, "
    "with ten busy processes on each of its four nodes from the fifth minute on (figure 3).",
    finding=finding,
    paper=PAPER,
    columns=columns(PAPER),
    options=("only",),
)
