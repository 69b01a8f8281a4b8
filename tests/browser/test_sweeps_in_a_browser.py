"""The page of a sweep: both themes, wide and narrow, with its picture."""

from __future__ import annotations

from typing import Any

import pytest

from scheduling.jobs.group_models import JobGroup
from scheduling.runs.models import Run
from tests.browser.conftest import page_faults, settled
from tests.browser.pictures import keep_pictures

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_sweep_is_drawn_and_readable_in_all_forms(
    portal: Any, people: Any, make_job: Any, application: Any, network: Any
) -> None:
    axes = [{"name": "klass", "values": ["S", "W"]}, {"name": "ranks", "values": [2, 4, 8]}]
    group = JobGroup.objects.create(owner=people["user"], application=application, name="Scaling of EP", axes=axes)
    for klass, ranks in [(klass, ranks) for klass in ("S", "W") for ranks in (2, 4, 8)]:
        state = "queued" if (klass, ranks) == ("W", 8) else "succeeded"
        job = make_job(people["user"], state, parameters={"klass": klass}, node_count=ranks, group=group)
        seconds = (12.0 if klass == "S" else 30.0) / ranks
        Run.objects.filter(job=job).update(seconds=seconds, result={"figures": {"mops": 900 / seconds}})
    portal.sign_in("user")
    portal.go(f"/sweeps/{group.pk}/?figure=mops&over=ranks")
    settled(portal)
    assert portal.page.locator("#sweep-chart .scatterlayer .trace").count() == 2
    assert page_faults(portal) == []
    keep_pictures(portal.page, "sweep")
    portal.go("/submit/?application=ep")
    portal.page.get_by_text("Several jobs at once").click()
    portal.page.locator("#id_sweep-ranks").fill("2,4")
    portal.page.get_by_text("2 jobs:").wait_for()
    assert page_faults(portal) == []
    keep_pictures(portal.page, "sweep-form")
    assert portal.errors == []
