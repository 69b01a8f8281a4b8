"""Migration 2003, figure 6: whether jobs are moved to nodes that others leave, when that pays."""

from __future__ import annotations

from gridportal.experiments.interface import Experiment
from gridportal.experiments.moves.move_report import columns, finding, functions
from gridportal.experiments.opportunistic.measurement import measurement
from gridportal.experiments.opportunistic.paper import PAPER

_TABLES, _FIGURE = functions("size", "rows of the second matrix in the paper")

EXPERIMENT = Experiment(
    name="opportunistic",
    order=63,
    about="Migration 2003, 8.2, figure 6: whether a QR factorization is moved to nodes that another job "
    "has left, when that pays.",
    help="whether jobs are moved to nodes that others leave, when that pays",
    duration="about 10 minutes, one case with --only in about 5",
    measurement=measurement,
    tables=_TABLES,
    figure=_FIGURE,
    caption="Seconds from submission to end of a QR factorization that stayed, and of one that was moved, "
    "of a second job, beside those of a first one that shares six of its eight nodes until it ends (figure 6).",
    finding=finding,
    paper=PAPER,
    columns=columns(PAPER),
    options=("only",),
)
