"""What the demo's job can be: the classes of NAS CG as the catalogue has them, and how many nodes it takes."""

from __future__ import annotations

from gridportal.workloads.catalogue import PROGRAMS

JOB_NODES = 4
_CG = next(program for program in PROGRAMS if program["slug"] == "nas-cg")
CLASSES = tuple(next(field for field in _CG["parameters"] if field["name"] == "class").get("choices", ()))
