"""The main job as a person does it: sign in, fill in the form, watch the job finish verified, on the real Grid."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.gridportal.serve.demo.demo_process import PASSWORD, running_demo

pytestmark = [pytest.mark.browser, pytest.mark.grid, pytest.mark.timeout(400)]
expect.set_options(timeout=60_000)
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-sync"]


@pytest.fixture
def page() -> Iterator[Page]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        yield browser.new_page()
        browser.close()


def test_a_person_submits_cg_through_the_form_and_sees_it_finish_verified(page: Page, tmp_path: Path) -> None:
    with running_demo(tmp_path) as (_, address):
        page.goto(address)
        page.get_by_label("User name").or_(page.get_by_label("Username")).fill("user2")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()

        page.get_by_role("link", name="Submit").first.click()
        expect(page.get_by_role("heading", name="Submit NAS CG")).to_be_visible()
        page.get_by_role("combobox", name="Application").select_option(label="NAS MG")
        expect(page.get_by_role("heading", name="Submit NAS MG")).to_be_visible()
        page.get_by_role("combobox", name="Application").select_option(label="NAS CG")
        expect(page.get_by_role("heading", name="Submit NAS CG")).to_be_visible()
        page.get_by_label("Problem class", exact=True).select_option("S")
        page.get_by_label("Nodes", exact=True).fill("4")
        preview = page.get_by_role("region", name="Preview")
        expect(preview).to_contain_text("#!/bin/bash")
        expect(preview).to_contain_text("Candidate groups")
        page.get_by_role("button", name="Submit job").click()

        expect(page).to_have_url(re.compile(r"/jobs/\d+/"))
        expect(page.get_by_text("✓ verified").first).to_be_visible()
        expect(page.locator("#log")).to_contain_text("VERIFICATION SUCCESSFUL")
        chosen = [page.locator(f"#rank-{rank}").inner_text() for rank in range(4)]
        assert len(set(chosen)) == 4
        rows = page.get_by_role("region", name="Nodes rank by rank").locator("tbody tr")
        assert [row.locator("td").last.inner_text() for row in rows.all()] == [f"✓ {name}" for name in chosen]
        expect(page.locator("#script")).to_contain_text(f"-hosts {','.join(chosen)}")
