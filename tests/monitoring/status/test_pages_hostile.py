"""Names of nodes come from files and clusters: whatever they are, pages show them and run nothing of them."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from gridportal.base.errors import InputError
from gridportal.network.topology import parse
from monitoring.clusters.models import Cluster, Node
from monitoring.history.core.samples import Sample
from monitoring.telemetry.services.readings import record_readings
from tests.markup import markup

pytestmark = pytest.mark.django_db
EVIL = (
    "<script>alert(1)<!--",
    '"><img src=x onerror=alert(1)>',
    "{{7*7}}'-alert(1)-'",
    "a&b <i>c",
)


@pytest.mark.parametrize("name", EVIL)
def test_a_hostile_name_is_text_on_every_page_that_shows_it(client_as, star, now, name):
    Node.objects.filter(name="a").update(name=name)
    record_readings("grid", "agent", [Sample(f"{name}>s", "probe_share", now.timestamp(), 0.01)])
    Cluster.objects.update(topology=name)
    client = client_as("operator")
    one = quote(name, safe="")
    for address in ("/topology/", "/telemetry/", f"/topology/nodes/{one}/", f"/topology/links/{one}/s/"):
        answer = client.get(address, follow=True)
        assert answer.status_code == 200, address
        page = markup(answer)
        for bad in ("<script>alert", "<img src=x", "<i>c", "49'-alert"):
            assert bad not in page, (address, bad)


@pytest.mark.parametrize("name", ["a/b", "</script>", "a\nb", "a\x00"])
def test_a_name_that_no_address_can_hold_is_refused(name):
    with pytest.raises(InputError, match="printable characters without /"):
        parse({"nodes": [{"id": name}], "links": []})
