"""Wrong API tokens are counted by address, so that whoever sends many is refused before the database is asked.

The counts are in the cache: all processes of the web server share them through Redis; while that is away each counts
alone. A token that was right a short while ago is looked up all the same: a neighbour behind the same address who
guesses does not stop programs that are at work.
"""

from __future__ import annotations

import time
from ipaddress import ip_network

from django.core.cache import cache
from django.http import HttpRequest

from gridportal.web.middleware import address_of

LIMIT = 30  # wrong tokens of one address in a window
WINDOW = 60  # seconds
_REMEMBERED = 600  # seconds that a right token is let through
_NETWORK = 64  # bits of an IPv6 address that are one customer's


def seconds_to_wait(request: HttpRequest, digest: str) -> int:
    """0 when the token of this digest may be looked up; else the seconds until one may."""
    now = _now()
    if int(cache.get(_key(request, now), 0)) < LIMIT or cache.get(_right(digest)):
        return 0
    return WINDOW - int(now) % WINDOW


def count(request: HttpRequest) -> None:
    """One more wrong token came from there."""
    key = _key(request, _now())
    cache.add(key, 0, WINDOW)
    try:
        cache.incr(key)
    except ValueError:  # its time ran out, or Redis came or went, between the two
        cache.set(key, 1, WINDOW)


def remember(digest: str) -> None:
    """This one was right."""
    cache.set(_right(digest), 1, _REMEMBERED)


def _now() -> float:
    return time.time()


def _key(request: HttpRequest, now: float) -> str:
    address = address_of(request) or "unknown"
    if ":" in address:
        address = str(ip_network(f"{address}/{_NETWORK}", strict=False).network_address)
    return f"wrong-tokens {address} {int(now) // WINDOW}".replace(" ", "|")


def _right(digest: str) -> str:
    return f"right-token|{digest}"
