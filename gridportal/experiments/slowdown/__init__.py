"""Pattern 2003, 3: what other traffic costs programs, by the way their nodes were selected."""

from __future__ import annotations

from gridportal.experiments.interface import Experiment
from gridportal.experiments.slowdown.measurement import measurement
from gridportal.experiments.slowdown.paper import PAPER
from gridportal.experiments.slowdown.report import figure, finding, tables

EXPERIMENT = Experiment(
    name="slowdown",
    order=10,
    about="Pattern 2003, 3: by how much traffic slows programs down, by how their nodes were chosen.",
    help="by how much traffic slows programs down by how their nodes were chosen",
    duration="about 10 minutes",
    measurement=measurement,
    tables=tables,
    figure=figure,
    caption="Slowdown against the dedicated time by program and method, with 95 % intervals from two rounds on; on the "
    "right the means over all programs but EP, and those of the paper (figure 3). Traffic cannot speed a program up: "
    "bars below zero are the scatter of the machine.",
    finding=finding,
    paper=PAPER,
    methods={
        "random": "any four nodes",
        "all-all": "the group whose slowest pair of nodes is the fastest",
        "pattern-only": "the same for the pairs of ranks that talk, as the program's profile shows them",
        "pattern": "the best three such groups are tried with the program's skeleton: the paper's method",
        "oracle": "the best in hindsight: the program itself ran on several groups",
    },
)
