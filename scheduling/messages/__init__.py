"""Sentences for people, made of reasons at the door: pages, API, command line, CSV. Nothing below a door imports this.

One function for each code, named by it in `registry.says`; its parameters are facts of that code.
"""

from __future__ import annotations

from scheduling.messages import experiments, jobs, runs, selection, trials  # noqa: F401  (each registers its own)
from scheduling.messages.registry import brief, message, messages

__all__ = ["brief", "message", "messages"]
