"""A demo as a person uses it: sign in, fill in the form, watch the job finish verified, on the real Grid. Then that
Grid is killed, and at last the demo is ended."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import expect

from gridportal.base.errors import BackendError
from gridportal.testbed import machine
from gridportal.testbed.client import Grid
from gridportal.testbed.state import State
from tests.gridportal.serve.demo.demo_process import PASSWORD, running_demo
from tests.gridportal.serve.demo.test_demo import family_of, links

pytestmark = [pytest.mark.browser, pytest.mark.grid, pytest.mark.timeout(400)]
expect.set_options(timeout=60_000)


class Demo(NamedTuple):
    """One whose network four streams of others share."""

    home: Path
    process: subprocess.Popen[bytes]
    address: str
    links: str  # of the machine, before it began


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    home = tmp_path_factory.mktemp("demo")
    before = links()
    with running_demo(home, "--streams", "4") as (process, address):
        yield Demo(home, process, address, before)


def test_a_person_submits_cg_through_the_form_and_sees_it_finish_verified(open_page, demo: Demo) -> None:
    page = open_page(demo.address).page
    page.goto(demo.address)
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


def test_a_grid_that_was_killed_comes_back_with_its_traffic_and_ctrl_c_takes_everything_down(demo: Demo) -> None:
    shaped = machine.choose()[0] != "unshaped"  # else there is no traffic
    grid = Grid(demo.home / "grid")
    until = time.monotonic() + 120
    while not (first := grid.status())["traffic"] and shaped:
        assert time.monotonic() < until
        time.sleep(0.1)
    os.kill((State(demo.home / "grid").record() or {})["pid"], signal.SIGKILL)
    traffic = None
    while traffic is None:
        assert time.monotonic() < until, (demo.home / "demo.out").read_text()
        time.sleep(0.1)
        with suppress(BackendError):
            status = grid.status()
            if status["up_since"] > first["up_since"] and (status["traffic"] or not shaped):
                traffic = status["traffic"]
    assert not shaped or traffic["streams"] == 4
    assert "The grid ended and was started again" in (demo.home / "demo.out").read_text()
    assert len(family_of(demo.home)) > 5
    demo.process.send_signal(signal.SIGINT)
    assert demo.process.wait(timeout=90) == 0
    until = time.monotonic() + 15
    while (family_of(demo.home) or links() != demo.links) and time.monotonic() < until:
        time.sleep(0.1)
    assert family_of(demo.home) == []
    assert links() == demo.links, "network links were left behind"
