"""Redis and PostgreSQL for the tests: started on private sockets, ended by their own process ids."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
import redis

from gridportal.base import processes as shell


@contextmanager
def redis_server() -> Iterator[str]:
    """A redis-server of our own; yields its REDIS_URL."""
    binary = shutil.which("redis-server")
    if binary is None:
        pytest.skip("redis-server is not installed: apt-get install redis-server")
    with tempfile.TemporaryDirectory(prefix="gp-redis-") as folder:
        path = f"{folder}/redis.sock"
        words = ["--port", "0", "--unixsocket", path, "--save", "", "--dir", folder]
        process = shell.start([binary, *words], stdout=subprocess.DEVNULL)
        try:
            _until(lambda: redis.Redis(unix_socket_path=path).ping(), redis.RedisError)
            yield f"redis+socket://{path}"
        finally:
            _end(process)


@contextmanager
def postgres_server(
    log: int = subprocess.DEVNULL, *, copied: Path | None = None, kept_in: Path | None = None
) -> Iterator[str]:
    """A PostgreSQL cluster of our own that writes to `log`; yields its DATABASE_URL.

    As root it runs as another person, as it must. It begins with the data `copied` from there, else with an empty
    database, and what it has at its end is `kept_in` a folder, where one is named.
    """
    folder = postgres_programs()
    with tempfile.TemporaryDirectory(prefix="gp-pg-") as home:
        user = _server_user()
        if user:
            os.chmod(home, 0o755)
            os.chown(home, pwd.getpwnam(user).pw_uid, -1)
        common = {"user": user} if user else {}
        data = f"{home}/data"
        if copied:
            shutil.copytree(copied, data)
            subprocess.run(["chown", "-R", f"--reference={home}", data], check=True, timeout=60)
        else:
            words = ["-D", data, "-U", "gridportal", "--auth", "trust", "-E", "UTF8", "--no-sync"]
            initdb = [f"{folder}/initdb", *words]
            subprocess.run(initdb, check=True, capture_output=True, timeout=200, cwd="/", **common)
        options = ["-D", data, "-k", home, "-c", "listen_addresses=", "-c", "fsync=off"]
        process = shell.start(
            [f"{folder}/postgres", *options],
            stdout=log,
            stderr=log,
            cwd="/",
            user=user,
            orphaned=signal.SIGQUIT,  # at once, but taking its own children along
        )
        try:
            admin = f"host={home} user=gridportal dbname=postgres"
            _until(lambda: _have_database(admin), psycopg.OperationalError)
            yield f"postgresql://gridportal@/gridportal?host={home}"
        finally:
            _end(process)
        if kept_in:
            shutil.copytree(data, kept_in)


def postgres_programs() -> Path:
    """The folder of the newest PostgreSQL; skips where there is none."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))
    if not found:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    return Path(found[-1]).parent


def _server_user() -> str | None:
    if os.geteuid() != 0:
        return None
    return next(name for name in ("postgres", "nobody") if any(p.pw_name == name for p in pwd.getpwall()))


def _have_database(admin: str) -> None:
    with psycopg.connect(admin, autocommit=True, connect_timeout=2) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = 'gridportal'").fetchone():
            connection.execute("CREATE DATABASE gridportal")


def _until(ready: object, error: type[Exception], seconds: float = 90) -> None:
    until = time.monotonic() + seconds
    while True:
        try:
            ready()  # type: ignore[operator]
            return
        except error:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(timeout=10)
