"""Set matching 2002, 5: how well the time of the Cactus application is predicted, shared out and selected for."""

from __future__ import annotations

from dataclasses import replace

from gridportal.experiments.cactus.measurement import measurement
from gridportal.experiments.cactus.paper import PAPER
from gridportal.experiments.cactus.report import figure, finding, tables
from gridportal.experiments.interface import Experiment
from gridportal.experiments.trial_columns import NODES, PREDICTED, SECONDS, TOOK

EXPERIMENT = Experiment(
    name="cactus",
    order=70,
    about="Set matching 2002, 5: predicted and measured time of a 3-D wave on unequal, loaded nodes of two sites, its "
    "shares of the work and the selected nodes against all others.",
    help="how well the time of the Cactus application is predicted, shared out and selected for",
    duration="about half an hour, one part in 5 to 10 minutes; parts for --only: computing, communication, shares, "
    "selection, six",
    measurement=measurement,
    tables=tables,
    figure=figure,
    caption="Predicted and measured seconds of each run (figures 2 and 3). On the line both are the same.",
    finding=finding,
    paper=PAPER,
    methods={},
    columns=(NODES, replace(SECONDS, head="Measured, s"), PREDICTED, TOOK),
    options=("only",),
)
