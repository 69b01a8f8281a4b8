"""The map and its tables: live, at a moment of the past, and what flows would get."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from monitoring.clusters.models import Cluster, Link, Node
from monitoring.history.core.samples import Sample
from monitoring.telemetry.services.readings import record_readings
from tests.markup import markup

pytestmark = pytest.mark.django_db


def facts(page: str, name: str) -> dict[str, str]:
    """The figures that a click on a node or link shows, of its first direction."""
    found = json.loads(re.search(r'<script id="map-facts"[^>]*>(.*?)</script>', page)[1])
    return {row[0]: row[1] for row in found[name]["parts"][0]["rows"]}


def at(moment) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def test_a_click_tells_each_figure_with_age_and_origin(client_as, star):
    told = facts(markup(client_as("user").get("/topology/")), "a>s")
    assert told["available"] == "40.0 Mbit/s"
    assert told["peak"] == "100.0 Mbit/s"
    assert told["in use"] == "60 %"
    assert told["counted traffic"] == "30.0 Mbit/s"
    assert told["by"] == "probe"
    assert "ago" in told["measured"] or told["measured"] == "now"
    low, high = re.fullmatch(r"[\d.]+ Mbit/s \(([\d.]+) to ([\d.]+)\)", told["forecast"]).groups()
    assert 0 <= float(low) <= float(high) <= 100, "no less than nothing, and no more than the peak"
    assert facts(markup(client_as("user").get("/topology/")), "a")["load by jobs"] == "0.75"


def test_the_table_has_the_same_facts(client_as, star):
    page = markup(client_as("user").get("/topology/"))
    row = re.search(r'<a id="link-a-s".*?</tr>', page, re.DOTALL)[0]
    for figure in ("40.0", "100.0", "40 %", "30.0", "probe"):
        assert figure in row


def test_the_picture_of_a_moment_has_the_figures_of_then(client_as, star, now):
    page = markup(client_as("user").get(f"/topology/?at={at(now - timedelta(seconds=150))}"))
    assert facts(page, "a>s")["available"] == "80.0 Mbit/s"
    assert facts(page, "a")["processor free"] == "25 %"
    assert "data-past" in page
    assert "<title>Topology of grid at " in page


def test_a_moment_before_all_history_says_so_and_shows_no_zero(client_as, star, now):
    page = markup(client_as("user").get(f"/topology/?since=24h&at={at(now - timedelta(hours=20))}"))
    assert "Nothing was measured at that time" in page
    assert facts(page, "a>s")["available"] == "—"
    assert facts(page, "a")["processor free"] == "—"


def test_a_value_does_not_count_long_after_it_was_measured(client_as, star, now):
    record_readings("grid", "agent", [Sample("b", "cpu", now.timestamp() - 3600, 0.5)])
    soon = markup(client_as("user").get(f"/topology/?at={at(now - timedelta(seconds=3000))}"))
    late = markup(client_as("user").get(f"/topology/?at={at(now - timedelta(seconds=1500))}"))
    assert facts(soon, "b")["processor free"] == "50 %"
    assert facts(late, "b")["processor free"] == "—"


def test_a_moment_is_found_in_compacted_history_too(client_as, star, now):
    from monitoring.history.services.compaction import compact

    compact("grid", everything=True)
    page = markup(client_as("user").get(f"/topology/?at={at(now - timedelta(seconds=150))}"))
    assert facts(page, "a>s")["available"] == "80.0 Mbit/s"


def test_a_moment_weeks_ago_is_found_in_means_of_hours(client_as, star, now):
    from monitoring.history.services.compaction import age, compact

    then = now - timedelta(days=20)
    record_readings("grid", "agent", [Sample("b", "cpu", then.timestamp() + i, 0.5) for i in range(0, 600, 60)])
    compact("grid", everything=True)
    age("grid", now=now.timestamp())
    page = markup(client_as("user").get(f"/topology/?since=30d&at={at(then + timedelta(seconds=700))}"))
    assert facts(page, "b")["processor free"] == "50 %"


@pytest.mark.parametrize("sort", ["share", "-share", "-used", "measured"])
def test_links_of_which_nothing_is_known_stand_at_the_end(client_as, star, sort):
    Link.objects.filter(source__name="b").update(bandwidth=None, measured_at=None)
    page = markup(client_as("user").get(f"/topology/?sort={sort}"))
    order = re.findall(r'id="link-(\w)-s"', page)
    assert order[-1] in ("b", "c") if sort == "-used" else order[-1] == "b"


def test_the_past_of_a_link_without_probes_comes_from_counters(client_as, star, now):
    record_readings("grid", "agent", [Sample("c:eth0", "tx", now.timestamp() - 100, 90e6)])
    Link.objects.filter(source__name="c").update(bandwidth=None, measured_at=None)
    told = facts(markup(client_as("user").get(f"/topology/?at={at(now - timedelta(seconds=90))}")), "c>s")
    assert (told["available"], told["by"]) == ("10.0 Mbit/s", "byte counters")


def test_what_is_no_moment_is_told_and_the_present_shown(client_as, star):
    page = markup(client_as("user").get("/topology/?at=yesterday"))
    assert "yesterday&#x27; is no date and time" in page
    assert facts(page, "a>s")["available"] == "40.0 Mbit/s"


def test_the_slider_stands_where_the_address_says(client_as, star, now):
    page = markup(client_as("user").get(f"/topology/?since=1h&at={at(now - timedelta(minutes=30))}"))
    slider = re.search(r'<input type="range"[^>]*>', page)[0]
    values = {
        name: int(re.search(rf'{name}="(\d+)"', slider)[1]) for name in ("max", "value", "data-step", "data-begin")
    }
    assert values["value"] / values["max"] == pytest.approx(0.5, abs=0.02)
    end = values["data-begin"] + values["max"] * values["data-step"]
    assert end == pytest.approx(timezone.now().timestamp(), abs=values["data-step"] + 5)


def test_figures_that_are_old_are_marked_as_stale(client_as, star, now):
    Link.objects.filter(source__name="a").update(measured_at=now - timedelta(hours=2))
    page = markup(client_as("user").get("/topology/"))
    assert "stale, measured" in facts(page, "a>s")
    assert ", stale</span>" in page
    assert "1 of the figures is stale." in page


def test_a_cluster_without_nodes_says_why_and_what_to_do(client_as, db):
    Cluster.objects.create(name="grid", error="The Grid is not up.", error_at=timezone.now())
    page = markup(client_as("user").get("/topology/"))
    assert "No node of grid is known yet" in page
    assert "The Grid is not up." in page
    assert "too many to draw" not in page


def test_two_thousand_nodes_are_drawn_with_few_queries_and_a_page_that_is_not_large(
    client_as, star, django_assert_max_num_queries
):
    switch = Node.objects.get(name="s")
    Node.objects.bulk_create(Node(cluster=switch.cluster, name=f"m{i}", position=10 + i, cpu=1.0) for i in range(2000))
    rows = Node.objects.filter(name__startswith="m")
    Link.objects.bulk_create(
        Link(cluster=switch.cluster, source=node, target=switch, capacity=1e9, bandwidth=6e8) for node in rows
    )
    client = client_as("user")
    with django_assert_max_num_queries(19):
        page = markup(client.get("/topology/"))
    assert "map-figure" in page
    assert len(page) < 900_000
    told = client.get("/topology/fact?of=m7>s").json()
    assert told["title"] == "m7–s"
    assert ["available", "600.0 Mbit/s"] in told["parts"][0]["rows"]
    assert client.get("/topology/fact?of=s>m7").json() == told
    assert client.get("/topology/fact?of=nothing").status_code == 404


def test_leaves_of_a_crowded_switch_do_not_cover_each_other():
    from monitoring.status.charts.layout import radial

    names = ["root", *(f"s{i}" for i in range(40)), *(f"n{i}" for i in range(2000))]
    ends = [("root", f"s{i}") for i in range(40)] + [(f"s{i % 40}", f"n{i}") for i in range(2000)]
    places = radial(names, ends, names[:41])
    assert len(places) == len(names)
    cells = {(round(x / 0.02), round(y / 0.02)) for x, y in places.values()}
    assert len(cells) > 0.97 * len(names)


def test_the_panel_answers_what_flows_get_and_what_holds_them(client_as, star):
    page = markup(client_as("user").get("/topology/?flows=a>b%20c>b"))
    assert "Together the 2 flows would get" in page
    answer = page[page.index('id="flow-answer"') :]
    assert "/topology/links/s/b/?cluster=grid" in answer
    assert "a – s – b" in answer


def test_the_panel_alone_answers_with_its_address(client_as, star):
    response = client_as("user").get("/topology/flows?flows=a>b&when=forecast", headers={"HX-Request": "true"})
    assert response["HX-Replace-Url"] == "/topology/?cluster=grid&flows=a%3Eb&when=forecast#ask"
    assert "a to b would get" in markup(response)
    assert "<html" not in markup(response)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("flows=a", "Flows: &#x27;a&#x27; is not possible. Enter SOURCE&gt;TARGET"),
        ("flows=a>b,a>nowhere", "To of flow 2: &#x27;nowhere&#x27; is not possible. Enter the name of a compute node"),
        ("flows=a>b&when=soon", "When: &#x27;soon&#x27;"),
    ],
)
def test_a_question_that_cannot_be_answered_says_why(client_as, star, query, words):
    page = markup(client_as("user").get(f"/topology/?{query}"))
    assert 'role="alert"' in page
    assert words in page


def test_nodes_sort_by_their_figures_with_the_unknown_last(client_as, star):
    Node.objects.filter(name="b").update(cpu=0.2)
    Node.objects.filter(name="c").update(cpu=None)
    for sort, names in (("cpu", "basc"), ("-cpu", "abcs"), ("-name", "scba")):
        page = markup(client_as("user").get(f"/topology/?node_sort={sort}"))
        rows = re.findall(r'<a id="node-(\w)"', page)
        assert [name for name in rows if name in "abc"] == [name for name in names if name in "abc"], sort
        head = re.search(rf'<th[^>]*aria-sort="(\w+)"[^>]*> ?<a id="node_sort-{sort.lstrip("-")}" href="([^"]+)"', page)
        assert head[1] == ("descending" if sort.startswith("-") else "ascending")
        assert head[2].endswith("#nodes")
