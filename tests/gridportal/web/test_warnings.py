"""What is wrong with a cluster's network is said wherever one may be, also outside the portal's own pages."""

from __future__ import annotations

import pytest

from monitoring.clusters.models import Cluster
from tests.markup import markup

WORDS = "This machine cannot shape links."


@pytest.mark.parametrize("address", ["/admin/", "/admin/scheduling/application/", "/admin/accounts/user/", "/api/docs"])
def test_the_warning_of_a_cluster_is_on_pages_of_libraries_too(client_as, address):
    client = client_as("administrator")
    assert 'class="warning"' not in markup(client.get(address))
    Cluster.objects.create(name="grid", warning=WORDS)
    answer = client.get(address)
    assert answer.status_code == 200
    assert f"<strong>grid:</strong> {WORDS}" in markup(answer)


def test_strangers_learn_nothing_of_the_clusters(client_as):
    Cluster.objects.create(name="grid", warning=WORDS)
    for address in ("/admin/", "/api/docs", "/sign-in/"):
        assert WORDS not in markup(client_as("anonymous").get(address, follow=True))
