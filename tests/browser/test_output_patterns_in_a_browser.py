"""The form to register an application in a browser: what its patterns find is shown while they are typed."""

from __future__ import annotations

import pytest

from scheduling.jobs.models import Application
from tests.browser.conftest import page_faults

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def found_has(page, part: str, text: str) -> None:
    page.wait_for_function(
        "([part, text]) => document.getElementById(`found-${part}`).textContent.includes(text)", arg=[part, text]
    )


def test_what_patterns_find_is_shown_while_they_are_typed(portal):
    portal.sign_in("administrator")
    page = portal.page
    portal.go("/applications/new")
    page.fill("#id_name", "Wave")
    page.fill("#id_slug", "wave")
    page.fill("#id_command", "/opt/wave")
    page.fill("#id_sample", "4000 atoms\nTime = 1500\nVerification = SUCCESSFUL\nstep 7 NaN\n")
    page.fill("#id_success", "Verification = SUCC(ESS")
    found_has(page, "success", "a ( is not closed")
    page.fill("#id_success", "Verification = SUCCESSFUL")
    found_has(page, "success", "Found: “Verification = SUCCESSFUL”")
    page.fill("#id_failure", "NaN")
    found_has(page, "failure", "Found: “step 7 NaN”")
    page.fill("#id_seconds", "Time = (.*)")
    found_has(page, "seconds", "1500 s")
    page.select_option("#id_seconds_unit", "ms")
    found_has(page, "seconds", "1.5 s")
    page.fill("#id_figures", "atoms = (.*) atoms")
    found_has(page, "figures", "atoms: 4000")
    assert page_faults(portal) == []
    page.click("button.main")
    page.wait_for_url("**/applications/wave/")
    assert Application.objects.get().output_patterns.document()["seconds"]["unit"] == "ms"
    assert not portal.errors
