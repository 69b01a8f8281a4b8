"""A null character, which PostgreSQL takes in no text: wherever it comes in, the answer is one in words.

SQLite would take it, so every statement is looked at as PostgreSQL would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import DataError, connection
from django.test import Client

from monitoring.clusters.models import Cluster, Link, Node

ADDRESSES = [
    *("/topology/?cluster=%00", "/topology/?job=%00&at=%00", "/topology/fact?of=%00&cluster=%00"),
    *("/topology/nodes/a/?cluster=%00", "/topology/nodes/%00/", "/topology/links/a/b/?cluster=%00"),
    *("/topology/flows?cluster=%00&flows=a%00>b", "/telemetry/?cluster=%00", "/jobs/?q=%00&owner=%00&application=%00"),
    *("/jobs/?state=%00&cluster=%00&sort=%00", "/jobs.csv?q=%00", "/reports/skeletons/?application=%00&owner=%00"),
    *("/audit/?q=%00&actor=%00&action=%00", "/submit/?application=%00&from=%00", "/experiments/?name=%00"),
    *("/api/jobs?q=%00&application=%00&owner=%00", "/api/applications/a%00", "/api/network?cluster=%00"),
    *(
        "/topology/series/a%00/cpu.csv?cluster=grid",
        "/topology/series/a/cpu%00.csv?cluster=%00",
        "/api/experiments/a%00",
    ),
    *("/api/network/status?cluster=%00", "/api/network/history?cluster=%00&subject=%00&metric=cpu", "/api/audit?q=%00"),
]


@pytest.fixture
def as_postgresql(db: None) -> Iterator[None]:
    """A cluster with two nodes. Whatever has a null character among its values is refused, as PostgreSQL does."""
    cluster = Cluster.objects.create(name="grid")
    nodes = [Node.objects.create(cluster=cluster, name=name) for name in ("a", "b")]
    Link.objects.create(cluster=cluster, source=nodes[0], target=nodes[1], capacity=1e8)

    def execute(run: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        values = params if isinstance(params, list | tuple) else ()
        if any(isinstance(value, str) and "\0" in value for value in values):
            raise DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
        return run(sql, params, many, context)

    with connection.execute_wrapper(execute):
        yield


@pytest.mark.parametrize("role", ["user", "administrator"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_with_one_is_answered_in_words(
    client_as: Callable[[str], Client], as_postgresql: None, address: str, role: str
) -> None:
    assert client_as(role).get(address).status_code in (200, 302, 400, 403, 404)


@pytest.mark.parametrize("address", ["/api/jobs", "/api/preview"])
@pytest.mark.parametrize("name", ["\0", "a\0"])
def test_an_application_called_so_is_none_that_is_known(
    client_as: Callable[[str], Client], as_postgresql: None, address: str, name: str
) -> None:
    asked = {"application": name, "node_count": 1}
    answer = client_as("user").post(address, asked, content_type="application/json")
    assert answer.status_code == 400
    assert list(answer.json()) == ["application"]


def test_a_cluster_called_so_is_not_measured(client_as: Callable[[str], Client], as_postgresql: None) -> None:
    assert client_as("operator").post("/topology/measure", {"cluster": "\0"}).status_code == 404
