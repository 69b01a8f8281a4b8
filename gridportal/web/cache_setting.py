"""Django's setting of the cache. What the cache itself needs takes a tenth of a second to import, and is imported by it
alone: most programs of a portal have no Redis."""

from __future__ import annotations

from typing import Any

PREFIX = "gridportal-cache"
_PATIENCE = 1.0  # seconds for one answer of Redis


def setting(redis_url: str) -> dict[str, dict[str, Any]]:
    """Django's CACHES for a REDIS_URL: shared where it names a Redis, else the memory of each process.

    >>> setting("redis+socket:///run/r.sock")["default"]["LOCATION"]
    'unix:///run/r.sock'
    >>> setting("")["default"]["BACKEND"].rsplit(".", 1)[1]
    'LocMemCache'
    """
    scheme, _, rest = redis_url.partition("://")
    scheme = {"redis+socket": "unix"}.get(scheme, scheme)
    if scheme not in ("redis", "rediss", "unix"):
        return {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    waits = {"socket_timeout": _PATIENCE, "socket_connect_timeout": _PATIENCE}
    if scheme == "unix":
        del waits["socket_connect_timeout"]
    return {
        "default": {
            "BACKEND": "gridportal.web.shared_cache.SharedCache",
            "LOCATION": f"{scheme}://{rest.replace('virtual_host=', 'db=')}",
            "KEY_PREFIX": PREFIX,
            "OPTIONS": {"serializer": "gridportal.web.shared_cache.Json", **waits},
        }
    }
