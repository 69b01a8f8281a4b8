"""What workers do for accounts."""

from __future__ import annotations

from gridportal.accounts import people
from gridportal.celery import task


@task(name="accounts.tasks.forget_sessions")
def forget_sessions() -> None:
    """Let go of sessions that are over."""
    people.forget_sessions()
