"""Rows by the models of an earlier version."""

from __future__ import annotations

from typing import Any
from uuid import uuid4


def old_job(apps: Any, **columns: Any) -> Any:
    """A job of ada's, who is made with it where she is not yet there, and so is its application."""
    application, _ = apps.get_model("scheduling", "Application").objects.get_or_create(
        slug="ep", defaults={"name": "EP", "command": ["true"]}
    )
    owner, _ = apps.get_model("accounts", "User").objects.get_or_create(username="ada")
    fields = {"owner_id": owner.pk, "application": application, "node_count": 1, "request_key": uuid4()}
    return apps.get_model("scheduling", "Job").objects.create(**(fields | columns))


def old_run(apps: Any, job: Any, number: int, key: str, **columns: Any) -> Any:
    """A run of it with a placement."""
    placement = apps.get_model("scheduling", "Placement").objects.create(
        job=job, method="pattern", nodes=["n1"], candidates=[], seconds=0.1
    )
    return apps.get_model("scheduling", "Run").objects.create(
        job=job, number=number, placement=placement, key=key, run_dir="/", script="", **columns
    )
