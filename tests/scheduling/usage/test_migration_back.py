"""Back to the version without sums by state: they are forgotten, as on the way here, and counted again."""

from __future__ import annotations

from datetime import date
from typing import Any

from django.db import connection

from tests.conftest import models_after

WITH, WITHOUT = ("scheduling", "0023_use_by_state_and_method"), ("scheduling", "0022_no_override")


def test_sums_by_state_keep_nobody_from_going_back(earlier: Any) -> None:
    models = earlier(*WITH)
    use, mark = (models.get_model("scheduling", name) for name in ("DailyUse", "UseMark"))
    made = models.get_model("scheduling", "Application").objects.create(slug="ep", name="EP", command=["true"])
    day = {"day": date(2026, 1, 2), "cluster": "grid", "application": made}
    use.objects.bulk_create(use(**day, state=state) for state in ("", "failed"))
    mark.objects.create(pk=1, through=7)

    models_after(WITHOUT)

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM scheduling_dailyuse")
        assert cursor.fetchone() == (0,)
        cursor.execute("SELECT through FROM scheduling_usemark")
        assert cursor.fetchone() == (0,)
