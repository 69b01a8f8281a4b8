"""A private PostgreSQL: Debian's binaries on a Unix socket, its data kept in the portal's home, no TCP at all."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import signal
from pathlib import Path
from urllib.parse import quote

import psycopg

from gridportal.base import processes as shell
from gridportal.base.errors import BackendError
from gridportal.serve import postmaster
from gridportal.serve.server_user import as_user, open_folder, server_user
from gridportal.serve.sockets import socket_folder
from gridportal.serve.supervisor import Process

_BINARIES = "/usr/lib/postgresql/*/bin/postgres"
_SOCKET = ".s.PGSQL.5432"
_NAME = "gridportal"  # of the database and of its only role


def newest_binaries() -> Path | None:
    """The folder of the newest PostgreSQL that Debian installed."""
    found = sorted(glob.glob(_BINARIES), key=lambda path: int(Path(path).parts[-3]))
    return Path(found[-1]).parent if found else None


class Postgres:
    """One cluster in `directory`; `url` is its DATABASE_URL. As root it runs as `postgres` or `nobody`."""

    def __init__(self, directory: Path, connections: int = 100) -> None:
        self.connections = connections
        self.user = server_user()
        self.directory = open_folder(directory, self.user)
        self.data = self.directory / "data"
        self.sockets, self._is_short = socket_folder(self.directory, _SOCKET)
        if self._is_short and self.user:
            shutil.chown(self.sockets, self.user)

    @property
    def url(self) -> str:
        """How Django is told."""
        return f"postgresql://{_NAME}@/{_NAME}?host={quote(str(self.sockets), safe='/')}"

    def process(self) -> Process:
        """The server's process, not yet started. Makes the cluster when there is none.

        SIGINT is PostgreSQL's fast shutdown; when its supervisor dies it gets SIGQUIT, the immediate one, which
        ends every backend and loses no committed row.
        """
        binaries = self._binaries()
        if not (self.data / "PG_VERSION").exists():
            self._create(binaries)
        options = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.sockets),
            "unix_socket_permissions": "0700",
            "max_connections": str(self.connections),
        }
        arguments = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        argv = [str(binaries / "postgres"), "-D", str(self.data), *arguments]
        return Process(
            "database",
            argv,
            "Starting PostgreSQL",
            problem=self.problem,
            ready_seconds=60.0,
            is_server=True,
            is_base=True,
            user=self.user,
            ending=signal.SIGINT,
            orphaned=signal.SIGQUIT,
            make_room=self.make_room,
        )

    def make_room(self) -> str:
        """End the server that somebody else started on these data; a sentence about it, "" when there was none.

        Only while our own does not run. Raises BackendError when it stays.
        """
        return postmaster.end(self.data, self.user)

    def problem(self) -> str | None:
        """Why it cannot be used now; None when it takes connections. Makes the database the first time."""
        try:
            self._ensure_database()
        except psycopg.OperationalError as error:
            return f"PostgreSQL in {self.data} does not answer: {error}."
        return None

    def close(self) -> None:
        """Remove the private socket folder, if one was needed."""
        if self._is_short:
            shutil.rmtree(self.sockets, ignore_errors=True)

    def _binaries(self) -> Path:
        newest = newest_binaries()
        if newest is None:
            raise BackendError("PostgreSQL is not installed; install it with: apt-get install postgresql")
        version = self.data / "PG_VERSION"
        if not version.exists():
            return newest
        wanted = version.read_text(encoding="ascii").strip()
        folder = newest.parents[1] / wanted / "bin"
        if not (folder / "postgres").exists():
            raise BackendError(
                f"The data in {self.data} is of PostgreSQL {wanted}, which is not installed; "
                f"install postgresql-{wanted}, or move the data to version {newest.parent.name} with pg_upgrade."
            )
        return folder

    def _create(self, binaries: Path) -> None:
        """Make the cluster beside its place and move it there, so that a stop in the middle leaves no half of one."""
        fresh = self.directory / "data.new"
        shutil.rmtree(fresh, ignore_errors=True)
        arguments = ["-D", str(fresh), "-U", _NAME, "-E", "UTF8", "--locale=C.UTF-8", "--data-checksums", "--auth=peer"]
        shell.run([*as_user(self.user), str(binaries / "initdb"), *arguments], timeout=120, cwd="/")
        (fresh / "pg_hba.conf").write_text("local all all peer map=portal\n", encoding="ascii")
        (fresh / "pg_ident.conf").write_text(f"portal {pwd.getpwuid(os.geteuid()).pw_name} {_NAME}\n", encoding="utf-8")
        fresh.rename(self.data)

    def _ensure_database(self) -> None:
        where = {"host": str(self.sockets), "user": _NAME, "connect_timeout": 5}
        with psycopg.connect(**where, dbname="postgres", autocommit=True) as link:  # type: ignore[arg-type]
            if not link.execute("SELECT 1 FROM pg_database WHERE datname = %s", [_NAME]).fetchone():
                link.execute(f"CREATE DATABASE {_NAME}")
