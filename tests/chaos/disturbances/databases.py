"""PostgreSQL is restarted as its administrator would, its connections are ended, Redis is emptied."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from dataclasses import dataclass

import redis

from tests.chaos import parts, world
from tests.chaos.disturbances.base import Disturbance, Scene


def known(scene: Scene) -> Iterable[Disturbance]:
    """What the portal's servers can be told."""
    yield Flush()
    if scene.has_postgres:
        yield Restart()
        yield EndConnections()


@dataclass(frozen=True, slots=True)
class Flush:
    """FLUSHALL: every message and counter is gone."""

    name: str = "flush redis"

    def begin(self, scene: Scene) -> str:
        """Empty it."""
        for socket in sorted(world.HOME.glob("*/broker.sock")):
            link = redis.Redis(unix_socket_path=str(socket), socket_timeout=5, retry=None)
            try:
                return f"{link.dbsize()} keys" if link.flushall() else "nothing"
            except redis.RedisError as error:
                return f"it does not answer: {error}"
            finally:
                link.close()
        return "there is none"

    def end(self, scene: Scene) -> None:
        """What is gone is gone."""


@dataclass(frozen=True, slots=True)
class Restart:
    """PostgreSQL's fast shutdown; the supervisor starts it again."""

    name: str = "restart postgres"

    def begin(self, scene: Scene) -> str:
        """SIGINT, as pg_ctl stop sends it."""
        return _tell("database", signal.SIGINT)

    def end(self, scene: Scene) -> None:
        """The portal itself starts it again."""


@dataclass(frozen=True, slots=True)
class EndConnections:
    """pg_terminate_backend for every connection."""

    name: str = "end connections"

    def begin(self, scene: Scene) -> str:
        """SIGTERM to each backend, which is what the function does."""
        return _tell("database-backend", signal.SIGTERM)

    def end(self, scene: Scene) -> None:
        """Clients connect anew."""


def _tell(part: str, signum: int) -> str:
    there = parts.of(part)
    for process in there:
        process.send(signum)
    return ", ".join(str(process.pid) for process in there) or "nobody was there"
