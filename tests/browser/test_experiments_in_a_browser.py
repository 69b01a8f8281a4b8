"""The pages of experiments in a real browser: charts, themes, widths, accessibility, and following what runs."""

from __future__ import annotations

import pytest

from gridportal.experiments import registry
from gridportal.experiments.models import Experiment
from tests.browser.conftest import page_faults, settled
from tests.gridportal.experiments import recorded

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def pages(people, tmp_path):
    """One of each experiment, ended or running; their addresses and that of the list."""
    found = ["/experiments/"]
    for name in registry.names():
        folder = tmp_path / name
        result = recorded.keep(name, folder)
        state = "running" if name == "skeletons" else "done"
        row = Experiment.objects.create(
            name=name, folder=str(folder), state=state, result=result, done=20, of=30, now="cg/7"
        )
        found.append(row.get_absolute_url())
    return found


#: The pages of all experiments are one template: `make test` has every sixth, `make test-slow` all.
PARTS = 6


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, PARTS))])
def test_no_page_has_serious_faults_scrolls_sideways_or_asks_another_host(live_server, open_page, pages, part):
    watched = open_page(live_server.url)
    watched.sign_in("operator")
    faults = {}
    for address in pages[part::PARTS]:
        assert watched.go(address).status == 200, address
        settled(watched)
        if bad := page_faults(watched):
            faults[address] = bad
    assert not faults
    assert not watched.errors
    assert not watched.foreign


def test_a_running_one_is_followed_until_it_has_ended(live_server, open_page, pages):
    watched = open_page(live_server.url)
    watched.sign_in("operator")
    row = Experiment.objects.get(name="skeletons")
    watched.go(row.get_absolute_url())
    settled(watched)
    page = watched.page
    assert page.locator("#progress").get_attribute("value") == "20"
    page.locator("#cancel").click()
    page.locator("#cancel-dialog [data-close]").click()

    Experiment.objects.filter(pk=row.pk).update(state="done", done=30, now="")
    page.wait_for_selector("#progress", state="detached")
    settled(watched)

    assert page.locator("#cancel").count() == 0
    assert not watched.errors
