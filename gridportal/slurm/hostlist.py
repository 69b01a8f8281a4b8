"""Slurm's host lists: they are read in monitoring, where topology files are."""

from __future__ import annotations

from gridportal.network.importers.hostlist import LIMIT, expand

__all__ = ["LIMIT", "expand"]
