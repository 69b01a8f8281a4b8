"""Sentences for people, made of reasons at the door: pages, API, command line, CSV. Nothing below a door imports this.

One function for each code, named by it in `registry.says`; its parameters are facts of that code.
"""

from __future__ import annotations

from scheduling.messages import (  # noqa: F401  (each registers its sentences)
    alert_messages,
    experiments,
    job_messages,
    move_messages,
    node_messages,
    run_messages,
    selection_messages,
    start_messages,
    trace_messages,
    trial_messages,
    use_messages,
)
from scheduling.messages.registry import brief, message, messages

__all__ = ["brief", "message", "messages"]
