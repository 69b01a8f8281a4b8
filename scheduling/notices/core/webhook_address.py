"""Where a webhook is: an address that a person typed, checked before anybody connects to it.

A portal that sends to any address would reach what only the portal's own machine may reach (server-side request
forgery), so addresses of private networks are refused unless an administrator allows their network.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from gridportal.base.errors import InputError
from scheduling.notices.core.notice_kinds import WebhookFormat

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network
LONGEST = 1000
_PORTS = {"http": 80, "https": 443}
_MATRIX = re.compile(r"/_matrix/client/(v3|r0)/rooms/[^/]+/send/m\.room\.message")
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")
_PRINTABLE = re.compile(r"[!-~]+")
#: They carry an IPv4 address inside, which need not be a public one.
_TUNNELS = tuple(ipaddress.ip_network(each) for each in ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"))


@dataclass(frozen=True, slots=True)
class WebhookAddress:
    """`path` with its query, as it stands in a request.

    >>> WebhookAddress.parse("https://hooks.example/x?y=1")
    WebhookAddress(scheme='https', host='hooks.example', port=443, path='/x?y=1')
    """

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, text: str, format: WebhookFormat = WebhookFormat.JSON) -> WebhookAddress:
        """Raises InputError that says what is accepted; the address itself is not repeated, for it may be a secret."""
        try:
            parts = urlsplit(text.strip())
            port = _PORTS.get(parts.scheme, 0) if parts.port is None else parts.port
        except ValueError as error:
            raise _refused("an address such as https://hooks.example/portal") from error
        if parts.scheme not in _PORTS or not parts.hostname:
            raise _refused("an address that begins with https:// or http://")
        if parts.username is not None or parts.password is not None or parts.fragment:
            raise _refused("an address without a user name, a password or a # part")
        if len(text) > LONGEST or not _PRINTABLE.fullmatch(text.strip()):
            raise _refused(f"at most {LONGEST} letters, digits and signs of ASCII, without spaces")
        if port == 0:
            raise _refused("a port from 1 to 65535")
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        if format is WebhookFormat.MATRIX and (not _MATRIX.fullmatch(parts.path) or parts.query):
            raise _refused("https://SERVER/_matrix/client/v3/rooms/ROOM/send/m.room.message for Matrix")
        return cls(parts.scheme, _host(parts.hostname), port, path)

    @property
    def authority(self) -> str:
        """Host and port as the Host header has them.

        >>> WebhookAddress.parse("http://[::1]:8080/").authority, WebhookAddress.parse("https://a.example").authority
        ('[::1]:8080', 'a.example')
        """
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def first_permitted(addresses: Iterable[str], allowed: Sequence[str]) -> str:
    """The first of the addresses of one host, or "" where one of them is not to be connected to.

    `allowed`: networks that are permitted although they are private, such as 10.1.0.0/16.

    >>> first_permitted(["93.184.215.14"], []), first_permitted(["127.0.0.1"], ["127.0.0.0/8"])
    ('93.184.215.14', '127.0.0.1')
    >>> first_permitted(["93.184.215.14", "10.0.0.1"], []), first_permitted([], [])
    ('', '')
    """
    networks = [ipaddress.ip_network(each, strict=False) for each in allowed]
    found = list(addresses)
    return found[0] if found and all(_permitted(each, networks) for each in found) else ""


def _permitted(text: str, networks: Sequence[IPNetwork]) -> bool:
    address: IPAddress = ipaddress.ip_address(text.partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None)
    address = mapped or address
    if any(address.version == network.version and address in network for network in networks):
        return True
    tunnelled = address.version == 6 and any(address in tunnel for tunnel in _TUNNELS)
    return address.is_global and not address.is_multicast and not address.is_reserved and not tunnelled


def _host(name: str) -> str:
    """The host as everything else goes by it: without the dot that may end a name. Raises InputError.

    >>> _host("hooks.example."), _host("::1")
    ('hooks.example', '::1')
    """
    plain = name.removesuffix(".")
    if "%" in plain:
        raise _refused("an address whose host has no % sign, so no network interface after it")
    if _NAME.fullmatch(plain):
        return plain
    try:
        return str(ipaddress.IPv6Address(name))
    except ValueError as error:
        raise _refused("an address whose host is a name, such as hooks.example, or an IP address") from error


def _refused(accepted: str) -> InputError:
    return InputError("webhook_url", "…", accepted)
