"""What runs in the demo, in the order in which it is started."""

from __future__ import annotations

from gridportal.serve import portal_processes
from gridportal.serve.broker import Broker, server_binary
from gridportal.serve.portal_set import PortalSet
from gridportal.serve.supervisor import Process


def broker(own: PortalSet) -> Broker | None:
    """A broker with its data in the home; none where REDIS_URL names one, or where no server is installed."""
    wants_one = server_binary() and not own.settings.redis_url
    return own.keep(Broker(own.settings.home / "broker")) if wants_one else None


def servers(own: PortalSet, redis: Broker | None, topology: str) -> list[Process]:
    """What must be there before tables are made; a demo without a broker hands tasks over in files."""
    binary = server_binary()
    return [
        *([redis.process(binary, "Starting the broker")] if redis and binary else []),
        portal_processes.grid(topology, own.settings.grid_state_dir, own.say),
    ]


def portal(own: PortalSet, port: int) -> list[Process]:
    """The portal itself, on loopback; its job is submitted when the web server answers."""
    return [
        portal_processes.web("127.0.0.1", port, 1, own.supervisor.log("access")),
        portal_processes.worker(),
        portal_processes.beat(),
    ]
