"""Selection 1999, table 1: what automatic node selection saves where others compute and send on the same nodes."""

from __future__ import annotations

from gridportal.experiments.interface import Experiment
from gridportal.experiments.loadtraffic.measurement import measurement
from gridportal.experiments.loadtraffic.paper import paper
from gridportal.experiments.loadtraffic.report import figure, finding, tables

EXPERIMENT = Experiment(
    name="loadtraffic",
    order=20,
    about="Selection 1999, table 1: what automatic selection saves where others compute and send.",
    help="what automatic selection saves where others compute and send",
    duration="about half an hour",
    measurement=measurement,
    tables=tables,
    figure=figure,
    caption="Increase over the unloaded time by program and condition, with 95 % intervals; hatched are the paper's "
    "(table 1).",
    finding=finding,
    paper=paper(),
    methods={
        "random": "any nodes",
        "automatic": "the balanced method with all that talk talking at once: processors and links as free as can be",
    },
)
