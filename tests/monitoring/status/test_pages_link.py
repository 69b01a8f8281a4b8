"""The page of a link or pair: history, forecast with its band, predictors with their errors."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from monitoring.forecasting.core.contest import contest
from monitoring.forecasting.core.forecasting import PREDICTORS, forecast_series
from monitoring.history.core.samples import Sample
from monitoring.telemetry.services.readings import record_readings
from tests.markup import markup

pytestmark = pytest.mark.django_db


def figure(page: str) -> dict:
    return json.loads(re.search(r'<script id="bandwidth-figure"[^>]*>(.*?)</script>', page)[1])


def test_a_measured_pair_has_a_page_with_its_path_and_what_probed_it(client_as, star):
    page = markup(client_as("user").get("/topology/links/a/b/?since=15m"))
    assert "<title>Pair a–b" in page
    assert "a–b got 40 of 100 Mbit/s end to end." in page
    assert "by the source probes" in page
    path = page[page.index('id="path"') : page.index('id="history"')]
    assert "/topology/links/a/s/" in path
    assert "/topology/links/b/s/" in path


def test_the_forecast_is_drawn_with_its_band_one_step_ahead(client_as, star):
    drawn = figure(markup(client_as("user").get("/topology/links/a/b/?since=15m")))
    by_name = {trace.get("name", ""): trace for trace in drawn["data"]}
    measured, forecast = by_name["available"], by_name["forecast one step before"]
    assert len(measured["x"]) == 5
    assert len(forecast["x"]) == 6
    assert forecast["x"][-1] > measured["x"][-1]
    assert any(trace.get("fill") == "tonexty" for trace in drawn["data"])
    assert drawn["layout"]["shapes"][0]["y0"] == 100.0
    assert drawn["layout"]["xaxis"]["range"][1] >= forecast["x"][-1]


def test_every_predictor_stands_in_the_table_with_its_error_the_best_first(client_as, star):
    page = markup(client_as("user").get("/topology/links/a/b/?since=15m"))
    table = page[page.index('id="predictors"') :]
    names = re.findall(r"<tr[^>]*><td>([^<]+)</td>", table)
    assert set(names) == {*PREDICTORS, "the mixture"}
    errors = [float(error) for error in re.findall(r'</td><td class="num">([0-9.]+)</td>', table)]
    assert errors == sorted(errors)
    assert "its forecast is the one that counts" in table


def test_a_link_that_was_never_measured_shows_its_peak_and_no_zero(client_as, star):
    star.links.update(bandwidth=None, measured_at=None)
    page = markup(client_as("user").get("/topology/links/c/s/"))
    assert "Nothing is measured of c–s; its peak is 100 Mbit/s." in page
    assert "0.0 Mbit/s" not in page.replace("100.0 Mbit/s", "")


def test_a_link_without_readings_of_its_own_names_the_pairs_that_cross_it(client_as, star, now):
    record_readings("grid", "probes", [Sample("c>b", "bandwidth", now.timestamp(), 50e6)])
    page = markup(client_as("user").get("/topology/links/b/s/?since=15m"))
    told = " ".join(re.sub(r"<[^>]*>", " ", page[page.index('id="through"') :]).split())
    assert "No readings are kept of this link alone: transfers are measured between compute nodes." in told
    assert "The fastest now: c–b with 50.0 Mbit/s, a–b with 40.0 Mbit/s." in told
    assert 'href="/topology/links/c/b/?cluster=grid"' in page
    assert "No reading in the" not in page
    assert "a–b with" not in markup(client_as("user").get("/topology/links/c/s/"))


def test_a_link_of_both_directions_shows_the_readings_that_are_kept_under_the_other(client_as, star, now):
    record_readings("grid", "probes", [Sample("s>c", "bandwidth", now.timestamp(), 70e6)])
    page = markup(client_as("user").get("/topology/links/c/s/?since=15m"))
    assert "70 Mbit/s at the only reading" in page or "70.0 Mbit/s at the only reading" in page
    assert 'id="through"' not in page


def test_the_counted_traffic_of_a_link_is_that_of_its_interface(client_as, star):
    page = markup(client_as("user").get("/topology/links/a/s/?since=15m"))
    assert "Counted traffic" in page
    assert "sent of a:eth0" in page


def test_what_is_no_pair_is_404_in_words(client_as, star):
    client = client_as("user")
    for ends in ("a/nowhere", "a/a", "s/s"):
        assert client.get(f"/topology/links/{ends}/").status_code == 404


def test_the_contest_counts_errors_as_one_by_one():
    values = np.random.default_rng(5).normal(10.0, 1.0, 40)
    found = contest(values)
    mixed = forecast_series(values)
    assert found.forecasts.value == pytest.approx(mixed.value, nan_ok=True)
    assert found.error == pytest.approx(np.abs(mixed.value[1:-1] - values[1:]).mean())
    last = next(entry for entry in found.entries if entry.predictor == "last value")
    assert last.error == pytest.approx(np.abs(np.diff(values)).mean())
    assert last.forecast == values[-1]
    assert [entry.error for entry in found.entries] == sorted(entry.error for entry in found.entries)


def record(now, values):
    first = now.timestamp() - 10 * len(values)
    for place, value in enumerate(values):
        record_readings("grid", "probes", [Sample("b>c", "bandwidth", first + 10 * place, value)])


def test_a_few_readings_name_no_best_predictor(client_as, star):
    page = markup(client_as("user").get("/topology/links/a/b/?since=15m"))
    assert "Too few readings to compare predictors: 5 readings; it takes 11." in page
    assert "lowest error" not in page


def test_enough_readings_name_the_best_predictor(client_as, star, now):
    record(now, [50e6 + 1e6 * (place * place % 7) for place in range(11)])
    page = markup(client_as("user").get("/topology/links/b/c/?since=15m"))
    assert re.search(r"[A-Z][^.<]* had the lowest error over the latest 11 readings: [0-9.]+ Mbit/s on average\.", page)


def test_predictors_that_err_alike_have_no_best_among_them(client_as, star, now):
    record(now, [50e6] * 12)
    page = markup(client_as("user").get("/topology/links/b/c/?since=15m"))
    assert "All predictors had the same error over the latest 12 readings: 0 Mbit/s on average." in page
