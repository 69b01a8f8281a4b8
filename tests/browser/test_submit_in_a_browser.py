"""The form to submit in a browser: ranks and threads, groups, pins and excluded nodes, with the keyboard alone."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from monitoring.clusters.models import Node
from scheduling.jobs.models import Job
from scheduling.runs.models import Run
from tests.browser.conftest import page_faults, settled

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def tab_to(page, selector: str) -> None:
    """With Tab alone, from wherever the focus is."""
    for _ in range(150):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"Tab never comes to {selector}")


def preview_has(page, text: str) -> None:
    page.wait_for_function("text => document.getElementById('preview').textContent.includes(text)", arg=text)


@pytest.fixture
def smp(network):
    """Nodes of four processors each."""
    Node.objects.filter(cluster=network).update(labels={"cpus": "4", "mem_gb": "8"})
    return network


def test_eight_ranks_of_two_threads_are_asked_for_with_the_keyboard_alone(portal, application, smp):
    portal.sign_in_with_keyboard("user")
    page = portal.page
    page.keyboard.type("gs")
    page.wait_for_selector("#preview h2")
    tab_to(page, "#id_ranks")
    page.keyboard.type("8")
    tab_to(page, "#id_cpus_per_rank")
    page.keyboard.type("2")
    tab_to(page, "#id_node_count")
    page.keyboard.type("4")
    page.wait_for_selector("#preview-script")
    preview_has(page, "OMP_NUM_THREADS")
    page.keyboard.press("Enter")
    page.wait_for_url("**/jobs/*/")
    job = Job.objects.get()
    assert (job.ranks, job.node_count, job.cpus_per_rank) == (8, 4, 2)
    assert page.locator("h1").inner_text() == "NAS EP, 8 ranks on 4 nodes"
    assert not portal.errors


def test_groups_are_added_and_taken_away_with_the_keyboard(portal, application, smp):
    portal.sign_in("user")
    page = portal.page
    portal.go("/submit/?application=ep")
    settled(portal)
    page.get_by_text("Groups of ranks, pins, excluded nodes").focus()
    page.keyboard.press("Enter")
    for name, count in (("server", "1"), ("clients", "3"), ("spare", "9")):
        tab_to(page, "#specification-add-group")
        page.keyboard.press("Enter")
        page.keyboard.type(name)
        page.keyboard.press("Tab")
        page.keyboard.press("Control+A")
        page.keyboard.type(count)
    tab_to(page, "[data-removes]")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "specification-add-group"
    assert page.locator("#id_ranks").input_value() == "4"
    tab_to(page, "#specification-add-link")
    page.keyboard.press("Enter")
    page.keyboard.type("server")
    page.keyboard.press("Tab")
    page.keyboard.type("clients")
    preview_has(page, "Choose otherwise")
    page.wait_for_timeout(500)  # what was typed last is being asked for by now
    page.wait_for_selector("#preview:not([aria-busy=true])")
    assert page_faults(portal) == []
    page.locator("#id_pins").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/jobs/*/")
    asked = Job.objects.get().specification
    assert [(group.name, group.count) for group in asked.groups] == [("server", 1), ("clients", 3)]
    assert [(link.source, link.target) for link in asked.links] == [("server", "clients")]


def test_a_node_of_the_preview_is_pinned_and_another_excluded_and_a_reload_keeps_both(portal, application, smp):
    portal.sign_in("user")
    page = portal.page
    portal.go("/submit/?application=ep")
    page.wait_for_selector("[data-pins]")
    first, last = (page.locator("[data-pins]").nth(at).get_attribute("data-node") for at in (0, -1))
    page.locator(f"#pin-{first}").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(f"#pin-{first}[aria-pressed=true]")
    assert page.evaluate("document.activeElement.id") == f"pin-{first}"
    if last != first:
        page.locator(f"#exclude-{last}").focus()
        page.keyboard.press("Enter")
        preview_has(page, "Allow again")
        assert page.locator("#id_exclude").input_value() == last
    pins = page.locator("#id_pins").input_value()
    assert pins.endswith(f"={first}")
    page.reload()
    page.wait_for_selector(f"#pin-{first}[aria-pressed=true]")
    assert page.locator("#id_pins").input_value() == pins
    page.locator(f"#pin-{first}").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(f"#pin-{first}[aria-pressed=false], #preview:not(:has(#pin-{first}))")
    assert page.locator("#id_pins").input_value() == ""
    assert not portal.errors


def test_the_curve_of_times_is_drawn_and_what_draws_it_is_loaded_with_it_alone(
    portal, people, make_job, application, network
):
    portal.sign_in("user")
    page = portal.page
    portal.go("/submit/?application=ep")
    page.wait_for_selector("#preview-script")
    assert page.evaluate("typeof window.Plotly") == "undefined"
    given = {field["name"]: field["default"] for field in application.parameters}
    for ranks, seconds in ((1, 8.0), (2, 4.0), (4, 3.5)):
        job = make_job(people["user"], "succeeded", node_count=ranks, parameters=given)
        now = timezone.now()
        Run.objects.filter(job=job).update(started_at=now - timedelta(seconds=seconds), ended_at=now)
    page.select_option("#id_ranks", "2")
    page.wait_for_selector("#scaling-chart .main-svg")
    assert not page_faults(portal)
    page.select_option("#id_ranks", "4")
    page.wait_for_function("() => document.querySelectorAll('#scaling-chart .main-svg').length > 0")
    assert not portal.errors
