"""Whether telemetry tells the truth on a busy network; the papers measured nothing of the sort."""

from __future__ import annotations

from gridportal.experiments.interface import Experiment
from gridportal.experiments.telemetry.measurement import measurement
from gridportal.experiments.telemetry.report import COLUMNS, figure, finding, tables

EXPERIMENT = Experiment(
    name="telemetry",
    order=40,
    about="Whether probes, flow queries, loads and selection tell the truth on a busy network.",
    help="whether the network’s figures are true",
    duration="about 6 minutes",
    measurement=measurement,
    tables=tables,
    figure=figure,
    caption="For each question the share of answers (up) whose error is at most so large (across); diamonds are the "
    "goals.",
    finding=finding,
    columns=COLUMNS,
)
