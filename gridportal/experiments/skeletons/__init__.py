"""How well a skeleton predicts its program on other nodes and under other traffic."""

from __future__ import annotations

from gridportal.experiments.interface import Experiment
from gridportal.experiments.skeletons.measurement import measurement
from gridportal.experiments.skeletons.paper import PAPER
from gridportal.experiments.skeletons.report import figure, finding, tables

EXPERIMENT = Experiment(
    name="skeletons",
    order=30,
    about="How well skeletons predict their programs on other nodes and under other traffic: programs of the project, "
    "or, where asked for, others in C and Fortran with both MPIs.",
    help="how well skeletons predict their programs",
    duration="about 45 minutes",
    measurement=measurement,
    tables=tables,
    figure=figure,
    caption="Each mark is a program under one condition: across what it took, up what its skeleton predicted, both as "
    "multiples of the program's reference time. On the line both agree.",
    finding=finding,
    paper=PAPER,
    options=("foreign", "only"),
)
