"""Limits are counted in Redis, for all processes together, and in each process while Redis is away."""

from __future__ import annotations

import pytest
import redis

from gridportal.web import cache_setting
from gridportal.web.shared_cache import SharedCache
from tests.servers import redis_server


def cache_at(url: str) -> SharedCache:
    wanted = cache_setting.setting(url)["default"]
    return SharedCache(wanted["LOCATION"], {name: wanted[name] for name in ("KEY_PREFIX", "OPTIONS")})


@pytest.mark.parametrize(
    ("url", "location"),
    [
        ("redis://host:6379/1", "redis://host:6379/1"),
        ("rediss://:word@host/0", "rediss://:word@host/0"),
        ("redis+socket:///run/r.sock?virtual_host=2", "unix:///run/r.sock?db=2"),
    ],
)
def test_every_spelling_of_a_redis_is_understood(url, location):
    assert cache_setting.setting(url)["default"]["LOCATION"] == location


@pytest.mark.parametrize("url", ["", "filesystem://", "amqp://host"])
def test_without_redis_each_process_remembers_for_itself(url):
    assert "LocMem" in cache_setting.setting(url)["default"]["BACKEND"]


@pytest.mark.redis
def test_two_processes_count_together_and_clearing_keeps_the_tasks():
    with redis_server() as url:
        one, other = cache_at(url), cache_at(url)
        one.set("throttle", [3.5, 2.25], 60)
        assert other.get("throttle") == [3.5, 2.25]
        assert other.get("nothing", "default") == "default"
        queue = redis.Redis(unix_socket_path=url.removeprefix("redis+socket://"))
        queue.rpush("celery", "a task")
        one.clear()
        assert other.get("throttle") is None
        assert queue.llen("celery") == 1


@pytest.mark.redis
def test_a_redis_that_goes_away_fails_no_request():
    with redis_server() as url:
        cache = cache_at(url)
        cache.set("throttle", [1.0], 60)
    assert cache.get("throttle", []) == []
    cache.set("throttle", [2.0], 60)
    assert cache.get("throttle") == [2.0]
    assert cache.delete("throttle")
