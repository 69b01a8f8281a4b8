"""Migration 2003, 8.3: how well the cost of a redistribution is predicted."""

from __future__ import annotations

from dataclasses import replace

from gridportal.experiments.interface import Experiment
from gridportal.experiments.redistribution.measurement import measurement
from gridportal.experiments.redistribution.paper import PAPER
from gridportal.experiments.redistribution.report import figure, finding, tables
from gridportal.experiments.trial_columns import NODES, PREDICTED, SECONDS, TOOK

EXPERIMENT = Experiment(
    name="redistribution",
    order=50,
    about="Migration 2003, 8.3: predicted and real time of reading the data of a QR factorization that moves from four "
    "loaded nodes to eight others, over a slow link.",
    help="how well the time of a redistribution is predicted",
    duration="about 4 minutes",
    measurement=measurement,
    tables=tables,
    figure=figure,
    caption="Seconds to read matrix and right-hand side of a QR factorization that was stopped on four nodes, each "
    "with ten busy processes, and goes on with eight nodes at the other end of a slow link (figure 7): predicted "
    "before, and measured.",
    finding=finding,
    paper=PAPER,
    columns=(NODES, replace(SECONDS, head="Reading, s"), PREDICTED, TOOK),
)
