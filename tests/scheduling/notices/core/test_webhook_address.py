"""Which addresses a webhook may have, and to which networks nobody connects."""

from __future__ import annotations

import pytest

from gridportal.base.errors import InputError
from scheduling.notices.adapters.webhook import leads_inside
from scheduling.notices.core.notice_kinds import WebhookFormat
from scheduling.notices.core.webhook_address import WebhookAddress, first_permitted

PRIVATE = [
    *("127.0.0.1", "127.8.9.1", "10.0.0.1", "172.16.3.4", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
    *("255.255.255.255", "224.0.0.1", "240.0.0.1", "192.0.2.1", "198.18.0.1"),
    *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1", "2001:db8::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1", "2001:0:1::1"),
]


@pytest.mark.parametrize(
    "text",
    [
        *("", "hooks.example/x", "ftp://hooks.example/", "file:///etc/passwd", "gopher://a.example/", "javascript:x"),
        *("https://", "https:///x", "https://user@a.example/", "https://u:p@a.example/", "https://a.example/#x"),
        *("https://a.example/a b", "https://a.example/\r\nHost: b", "https://a.example:99999/", "https://ä.example/"),
        "https://a.example/" + "x" * 1000,
        *("http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/", "http://%31%32%37.0.0.1/", "http://a%00b/"),
        *("http://a..b/", "http://.../", "http://-a.example/", "http://a.example:0/", "http://[::1"),
        f"http://{'a' * 64}.example/",
    ],
)
def test_others_are_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(InputError) as caught:
        WebhookAddress.parse(text)
    assert str(caught.value).startswith("webhook_url is '…'; accepted is ")


def test_for_matrix_it_is_that_of_a_room() -> None:
    path = "/_matrix/client/v3/rooms/!a:m.example/send/m.room.message"
    assert WebhookAddress.parse(f"https://m.example{path}", WebhookFormat.MATRIX).path == path
    for other in ("/", f"{path}/1", f"{path}?x=1", "/_matrix/client/v3/account/password"):
        with pytest.raises(InputError, match="rooms/ROOM"):
            WebhookAddress.parse(f"https://m.example{other}", WebhookFormat.MATRIX)


@pytest.mark.parametrize(
    "host", ["0", "0x7f.1", "127.1", "2130706433", "0177.0.0.1", "127.0.0.1.", "localhost.", "[::]"]
)
def test_odd_ways_to_write_this_machine_are_judged_as_it_is(host: str) -> None:
    assert leads_inside(WebhookAddress.parse(f"http://{host}/"), seconds=60)


@pytest.mark.parametrize("address", PRIVATE)
def test_private_networks_are_refused_also_beside_a_public_one(address: str) -> None:
    assert first_permitted([address], []) == ""
    assert first_permitted(["93.184.215.14", address], []) == ""


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f::1", "::ffff:93.184.215.14"])
def test_public_ones_are_permitted(address: str) -> None:
    assert first_permitted([address], []) == address


def test_a_network_that_is_allowed_opens_that_network_alone() -> None:
    assert first_permitted(["10.1.2.3"], ["10.1.0.0/16"]) == "10.1.2.3"
    assert first_permitted(["::ffff:10.1.2.3"], ["10.1.0.0/16"]) == "::ffff:10.1.2.3"
    assert first_permitted(["10.2.2.3"], ["10.1.0.0/16"]) == ""
