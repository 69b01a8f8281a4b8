"""The cache in Redis, so that limits hold over all processes of the web server; without Redis each counts alone."""

from __future__ import annotations

import json
import logging
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis import RedisError

from gridportal.web.cache_setting import PREFIX

_LOG = logging.getLogger(__name__)


class Json:
    """Values as JSON: what lies in a Redis that others may write to must not become code."""

    def dumps(self, value: Any) -> str | int:
        return value if type(value) is int else json.dumps(value)

    def loads(self, raw: bytes) -> Any:
        return json.loads(raw)


class OneClient(RedisCacheClient):
    """Django's makes a new client for every command, which takes as long as the command itself."""

    def __init__(self, servers: Any, **options: Any) -> None:
        super().__init__(servers, **options)
        self._clients: dict[int, Any] = {}

    def get_client(self, key: Any = None, *, write: bool = False) -> Any:
        """Threads may share a client: each command takes a connection of the pool."""
        index: int = self._get_connection_pool_index(write)  # type: ignore[attr-defined]  # Django's own
        if index not in self._clients:
            self._clients[index] = super().get_client(key, write=write)
        return self._clients[index]


class SharedCache(RedisCache):
    """`get`, `set`, `add`, `incr` and `delete` that go on in this process's memory while Redis does not answer."""

    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = OneClient
        self._own = LocMemCache("while-redis-is-away", {})

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        try:
            return super().get(key, default, version)
        except RedisError as error:
            return self._away(error).get(key, default, version)

    def set(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        try:
            super().set(key, value, timeout, version)
        except RedisError as error:
            self._away(error).set(key, value, timeout, version)

    def add(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        try:
            return bool(super().add(key, value, timeout, version))
        except RedisError as error:
            return self._away(error).add(key, value, timeout, version)

    def incr(self, key: Any, delta: int = 1, version: int | None = None) -> int:
        try:
            return int(super().incr(key, delta, version))
        except RedisError as error:
            return self._away(error).incr(key, delta, version)

    def delete(self, key: Any, version: int | None = None) -> bool:
        try:
            return bool(super().delete(key, version))
        except RedisError as error:
            return self._away(error).delete(key, version)

    def clear(self) -> bool:  # type: ignore[override]  # Django's tells too whether it did
        """Our keys alone: the tasks that wait are in the same Redis."""
        client = self._cache.get_client(None, write=True)
        found = list(client.scan_iter(f"{PREFIX}:*"))
        return bool(found and client.delete(*found))

    def _away(self, error: RedisError) -> LocMemCache:
        _LOG.warning("Redis does not answer, so this process counts alone: %s", error)
        return self._own
