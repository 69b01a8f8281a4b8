"""Jobs chosen in the list by the keyboard, jobs after jobs, sharing and input files: readable in all forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scheduling.jobs.models import Job
from scheduling.jobs.services import sharing_jobs
from tests.browser.conftest import page_faults, settled
from tests.browser.pictures import keep_pictures

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_jobs_are_chosen_by_the_keyboard_and_cancelled_once(portal: Any, people: Any, make_job: Any) -> None:
    for number, state in enumerate(("waiting", "waiting", "succeeded", "waiting")):
        make_job(people["user"], state, name=f"job {number}")
    portal.sign_in("user")
    portal.go("/jobs/")
    page = portal.page
    boxes = page.locator('input[name="job"]')
    boxes.nth(0).focus()
    page.keyboard.press("Space")
    boxes.nth(2).click(modifiers=["Shift"])
    assert page.inner_text("#picked") == "3 chosen"
    page.locator("#pick-page").check()
    assert page.inner_text("#picked") == "4 chosen"
    assert page_faults(portal) == []
    keep_pictures(page, "chosen")
    page.focus("#many-cancel")
    page.keyboard.press("Enter")
    page.locator("#unable").wait_for()
    assert page.inner_text("h1") == "Cancel 3 jobs?"
    assert page_faults(portal) == []
    keep_pictures(page, "chosen-asked")
    page.locator("button.main").dblclick()
    page.get_by_text("3 jobs:").wait_for()
    assert sorted(Job.objects.values_list("state", flat=True)) == ["cancelled"] * 3 + ["succeeded"]
    assert portal.errors == []


def test_order_sharing_and_input_files_are_readable_in_all_forms(
    portal: Any, people: Any, make_job: Any, network: Any, tmp_path: Path
) -> None:
    first = make_job(people["user"], "running", name="prepare the mesh", time_limit=3600)
    sharing_jobs.share_job(people["user"], first, "other")
    portal.sign_in("user")
    page = portal.page
    portal.go(f"/submit/?application=ep&after_ok={first.pk}")
    tmp_path.joinpath("mesh.dat").write_text("1 2 3\n")
    page.locator("#id_inputs").set_input_files(str(tmp_path / "mesh.dat"))
    page.get_by_text(f"Waiting for job {first.pk} (running) to succeed.").wait_for()
    page.wait_for_load_state("networkidle")
    page.wait_for_selector("#preview[aria-busy=false]")  # a preview that is made anew is paler
    assert page_faults(portal) == []
    keep_pictures(page, "order-form")
    page.locator("#submit-form button.main").click()
    page.locator("#order").wait_for()
    settled(portal)
    assert "mesh.dat" in page.inner_text("main")
    assert page_faults(portal) == []
    keep_pictures(page, "order-job")
    portal.go(f"/jobs/{first.pk}/share")
    page.get_by_role("button", name="Make a link").click()
    page.locator("#link-text").wait_for()
    assert page_faults(portal) == []
    keep_pictures(page, "shares")
    portal.sign_in("other")
    portal.go("/jobs/?shared=1")
    page.locator(f"#to-{first.pk}").click()
    page.locator("#shared").wait_for()
    settled(portal)
    assert page_faults(portal) == []
    keep_pictures(page, "shared-job")
    assert portal.errors == []
