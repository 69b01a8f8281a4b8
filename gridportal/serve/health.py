"""Whether each part of a running portal does its work, asked the way its users would."""

from __future__ import annotations

import urllib.error
import urllib.request

PARTS = ("web", "worker", "beat")
_NODES = {"worker": "celery", "beat": "celerybeat"}


def ill(part: str, *, host: str = "127.0.0.1", port: int = 8000, timeout: float = 5.0) -> str | None:
    """What is wrong with `part`, in one sentence; None when it is well."""
    if part == "web":
        return _web(host, port, timeout)
    return _celery(_NODES[part], timeout)


def _web(host: str, port: int, timeout: float) -> str | None:
    request = urllib.request.Request(f"http://{_reachable(host)}:{port}/healthz", headers={"Host": _served_name()})
    try:
        with urllib.request.urlopen(request, timeout=timeout):  # noqa: S310 - our own address
            return None
    except urllib.error.HTTPError as error:
        body = error.read(500).decode(errors="replace")
        return f"The web server answers {error.code} on /healthz: {body}"
    except OSError as error:
        reason = getattr(error, "reason", error)
        return f"The web server on port {port} does not answer: {getattr(reason, 'strerror', None) or reason}."


def _reachable(host: str) -> str:
    """Where a server that is bound to `host` can be asked from this machine."""
    return "127.0.0.1" if host == "0.0.0.0" else host  # noqa: S104 - compared, not bound


def _served_name() -> str:
    """A host name that the portal serves: the health check does not come through the proxy."""
    from django.conf import settings

    first = next(iter(settings.ALLOWED_HOSTS), "localhost")
    return "localhost" if first == "*" else first.lstrip(".")


def _celery(program: str, timeout: float) -> str | None:
    from celery.utils.nodenames import gethostname, nodename
    from kombu.exceptions import OperationalError
    from redis.exceptions import RedisError

    from gridportal.celery import app

    name = nodename(program, gethostname())
    try:
        answers = app.control.ping(destination=[name], timeout=timeout)
    except (OSError, OperationalError, RedisError) as error:
        return f"The broker does not answer: {error}"
    return None if answers else f"{name} did not answer within {timeout:g} s."
