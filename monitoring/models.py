"""All models of this app, gathered for Django; each stands in the folder of its capability."""

from monitoring.clusters.models import Cluster, Link, Node
from monitoring.history.models import Block, Frame, Page, Snapshot
from monitoring.telemetry.models import Source

__all__ = ["Block", "Cluster", "Frame", "Link", "Node", "Page", "Snapshot", "Source"]
