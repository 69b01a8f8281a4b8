"""Webhooks: one request to an address that was checked, within a time, and no further than there.

The name is looked up once; all its addresses must be permitted, and the connection goes to the very one that was
checked, so that a name which changes its address in between leads nowhere else. Redirects are answers like others.
"""

from __future__ import annotations

import http.client
import queue
import socket
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence

from scheduling.notices.adapters.delivery_error import DeliveryError
from scheduling.notices.core.webhook_address import WebhookAddress, first_permitted

#: Seconds for the whole request, however slowly the answer comes.
TIME_LIMIT = 10.0
_MOST_READ = 4096
#: Seconds that whoever saves an address waits for its name.
_LOOK_UP = 2.0
#: Refusals that pass: busy, too early, too many.
_PASSING = frozenset({408, 423, 425, 429})
Resolve = Callable[[str, int], Sequence[str]]


def addresses_of(host: str, port: int) -> list[str]:
    """What the name leads to. Raises OSError."""
    return list(dict.fromkeys(str(row[4][0]) for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))


def leads_inside(
    address: WebhookAddress,
    allowed: Sequence[str] = (),
    *,
    resolve: Resolve = addresses_of,
    seconds: float = _LOOK_UP,
) -> bool:
    """Whether it is known to lead into a network that is not permitted. Of a name that leads nowhere now, or is not
    found in time, that is not known: it is looked up whenever something is sent."""
    found: queue.SimpleQueue[Sequence[str]] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            found.put(resolve(address.host, address.port))
        except (OSError, UnicodeError):
            found.put(())

    threading.Thread(target=look_up, daemon=True).start()
    try:
        addresses = found.get(timeout=seconds)
    except queue.Empty:
        return False
    return bool(addresses) and not first_permitted(addresses, allowed)


def send(
    address: WebhookAddress,
    verb: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    allowed: Sequence[str] = (),
    resolve: Resolve = addresses_of,
    seconds: float = TIME_LIMIT,
) -> None:
    """Send it once. Raises DeliveryError unless the answer is a success (2xx)."""
    link = _Checked(address, _checked(address, allowed, resolve), seconds)
    watchdog = threading.Timer(seconds, link.cut)
    watchdog.daemon = True
    watchdog.start()
    try:
        link.request(verb, address.path, body, {"User-Agent": "GridPortal", **headers, "Host": address.authority})
        answer = link.getresponse()
        status = answer.status
        answer.read(_MOST_READ)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise DeliveryError(f"{address.host} did not answer: {_cause(error, cut=link.is_cut)}.") from error
    finally:
        watchdog.cancel()
        link.close()
    _check(address, status)


def _checked(address: WebhookAddress, allowed: Sequence[str], resolve: Resolve) -> str:
    try:
        found = list(resolve(address.host, address.port))
    except (OSError, UnicodeError) as error:
        raise DeliveryError(f"The name {address.host} leads to no address.") from error
    chosen = first_permitted(found, allowed)
    if not chosen:
        words = f"{address.host} is in a private network; an administrator may allow it (GRIDPORTAL_WEBHOOK_NETWORKS)."
        raise DeliveryError(words, lasting=True)
    return chosen


def _check(address: WebhookAddress, status: int) -> None:
    if 200 <= status < 300:
        return
    if 300 <= status < 400:
        raise DeliveryError(f"{address.host} sends on to another address, which is not followed.", lasting=True)
    lasting = 400 <= status < 500 and status not in _PASSING
    raise DeliveryError(f"{address.host} answered with status {status}.", lasting=lasting)


def _cause(error: Exception, *, cut: bool) -> str:
    if cut or isinstance(error, TimeoutError):
        return "it took too long"
    return str(getattr(error, "strerror", None) or type(error).__name__).rstrip(".")


class _Checked(http.client.HTTPConnection):
    """A connection to one address; the certificate is held against the name."""

    def __init__(self, address: WebhookAddress, connect_to: str, seconds: float) -> None:
        super().__init__(address.host, address.port, timeout=seconds)
        self._address, self._connect_to, self.is_cut = address, connect_to, False

    def connect(self) -> None:
        """As its base does, but to the address that was checked."""
        self.sock = socket.create_connection((self._connect_to, self._address.port), self.timeout)
        if self._address.scheme == "https":
            context = ssl.create_default_context()
            secured = context.wrap_socket(self.sock, server_hostname=self._address.host, do_handshake_on_connect=False)
            self.sock = secured
            secured.do_handshake()

    def cut(self) -> None:
        """The time is over: whoever reads or writes fails now."""
        self.is_cut = True
        if self.sock is not None:
            try:
                self.sock.shutdown(socket.SHUT_RDWR)
            except OSError:  # it has ended by itself
                return
