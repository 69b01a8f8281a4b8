"""What runs in production, in the order in which it is started."""

from __future__ import annotations

from gridportal.base.errors import BackendError
from gridportal.serve import portal_processes, programs
from gridportal.serve.broker import Broker, debian_binary
from gridportal.serve.portal_set import PortalSet
from gridportal.serve.postgres import Postgres
from gridportal.serve.supervisor import Process

_SPARE_CONNECTIONS = 50  # besides one for each thread of the web server


def broker(own: PortalSet) -> Broker | None:
    """Redis with its data in the home; none where REDIS_URL names one."""
    return None if own.settings.redis_url else own.keep(Broker(own.settings.home / "redis"))


def database(own: PortalSet, workers: int) -> Postgres | None:
    """PostgreSQL with its data in the home; none where DATABASE_URL names one."""
    connections = workers * programs.WEB_THREADS + _SPARE_CONNECTIONS
    return None if own.settings.database_url else own.keep(Postgres(own.settings.home / "postgres", connections))


def servers(own: PortalSet, redis: Broker | None, postgres: Postgres | None, topology: str) -> list[Process]:
    """What must be there before tables are made."""
    return [
        *([redis.process(_redis_binary(), "Starting Redis")] if redis else []),
        *([postgres.process()] if postgres else []),
        *([portal_processes.grid(topology, own.settings.grid_state_dir, own.say)] if topology else []),
    ]


def portal(own: PortalSet, host: str, port: int, workers: int) -> list[Process]:
    """The portal itself; all of it answers before people are invited."""
    return [
        portal_processes.web(host, port, workers, own.supervisor.log("access")),
        portal_processes.worker(),
        portal_processes.beat(),
    ]


def _redis_binary() -> str:
    binary = debian_binary()
    if binary is None:
        raise BackendError("Redis is not installed; install it with: apt-get install redis-server")
    return binary
