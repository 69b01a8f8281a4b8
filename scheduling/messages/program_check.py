"""What the check of a program said, and what became of its run, in some words."""

from __future__ import annotations

from collections.abc import Mapping

_THEN: Mapping[str, str] = {"failed": "failed", "cancelled": "was cancelled"}


def check_text(passed: bool, state: str) -> str:
    """Of a run, or of a job, in this state.

    >>> check_text(True, "succeeded"), check_text(False, "failed"), check_text(True, "running")
    ('verified', 'wrong result', 'its check passed')
    >>> check_text(True, "failed"), check_text(True, "cancelled")
    ('its check passed before it failed', 'its check passed before it was cancelled')
    """
    if not passed:
        return "wrong result"
    if state == "succeeded":
        return "verified"
    return f"its check passed before it {_THEN[state]}" if state in _THEN else "its check passed"
