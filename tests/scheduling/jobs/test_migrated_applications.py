"""Applications of an earlier version have no patterns for their output."""

from __future__ import annotations

import json
from typing import Any

from django.db import connection

from scheduling.jobs.job_fields import OutputPatternsField
from tests.conftest import models_after

BEFORE, AFTER = ("scheduling", "0034_specifications"), ("scheduling", "0035_output_patterns")


def test_an_old_application_is_judged_as_before(earlier: Any) -> None:
    earlier(*BEFORE).get_model("scheduling", "Application").objects.create(slug="old", name="Old", command=["old"])
    old = models_after(AFTER).get_model("scheduling", "Application").objects.get(slug="old")
    patterns = OutputPatternsField().from_db_value(json.dumps(old.output_patterns), None, connection)
    assert not patterns
    assert patterns.document() == {}
