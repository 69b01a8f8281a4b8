"""Where the private servers keep their data, and what is said when they cannot be started."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gridportal.base.errors import BackendError, GridPortalError, ShellError
from gridportal.base.portal_settings import BASE_DIR, PortalSettings
from gridportal.serve import packages, postgres, server_user
from gridportal.serve.server_user import open_folder

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs servers as somebody else")


@pytest.fixture
def reachable() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="gp-servers-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@as_root
def test_a_private_home_lets_the_servers_group_pass_and_nobody_else(reachable: Path) -> None:
    home = reachable / "home"
    home.mkdir(mode=0o700)
    folder = open_folder(home / "postgres", "nobody")
    assert folder == home / "postgres"
    assert folder.stat().st_uid == pwd.getpwnam("nobody").pw_uid
    assert home.stat().st_mode & 0o777 == 0o710
    assert folder.stat().st_mode & 0o777 == 0o700


@as_root
def test_a_home_behind_a_closed_door_keeps_its_data_elsewhere_and_finds_them_again(
    reachable: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_user, "_ELSEWHERE", reachable / "elsewhere")
    closed = reachable / "closed"
    (closed / "home").mkdir(parents=True)
    closed.chmod(0o700)
    folder = open_folder(closed / "home" / "postgres", "nobody")
    assert folder.is_relative_to(reachable / "elsewhere")
    assert closed.stat().st_mode & 0o777 == 0o700
    assert open_folder(closed / "home" / "postgres", "nobody") == folder
    folder.rmdir()
    with pytest.raises(BackendError, match="which is gone"):
        open_folder(closed / "home" / "postgres", "nobody")


def test_an_ordinary_user_owns_the_folder(tmp_path: Path) -> None:
    folder = open_folder(tmp_path / "home" / "postgres", None)
    assert folder == tmp_path / "home" / "postgres"
    assert folder.stat().st_mode & 0o777 == 0o700


def test_data_of_another_postgresql_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "newest_binaries", lambda: Path("/usr/lib/postgresql/99/bin"))
    monkeypatch.setattr(postgres, "server_user", lambda: None)
    server = postgres.Postgres(tmp_path)
    server.data.mkdir()
    (server.data / "PG_VERSION").write_text("7\n")
    with pytest.raises(BackendError, match=r"is of PostgreSQL 7, .*install postgresql-7, .*pg_upgrade"):
        server.process()


def test_missing_packages_are_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "debian_binary", lambda: None)
    monkeypatch.setattr(packages, "newest_binaries", lambda: None)

    def refuse(*_: object, **__: object) -> None:
        raise ShellError("sh failed with exit code 1: not root")

    monkeypatch.setattr(packages.shell, "run", refuse)
    with pytest.raises(GridPortalError, match="sudo apt-get install redis-server postgresql"):
        packages.ensure(PortalSettings(DATABASE_URL="", REDIS_URL=""))
    assert packages.missing(PortalSettings(DATABASE_URL="postgresql://x/y", REDIS_URL="redis://z")) == []


def test_the_script_names_the_command_to_whoever_may_not_install(tmp_path: Path) -> None:
    (tmp_path / "id").write_text("#!/bin/sh\necho 1000\n")
    (tmp_path / "id").chmod(0o755)
    argv = ["/bin/sh", str(BASE_DIR / "scripts" / "serve-deps.sh")]
    env = {"PATH": str(tmp_path), "DATABASE_URL": "postgresql://elsewhere/portal"}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=20)
    assert done.returncode == 1
    assert done.stderr == "Install what is missing with:  sudo apt-get install redis-server\n"
    both = subprocess.run(argv, env=env | {"REDIS_URL": "redis://x"}, capture_output=True, text=True, timeout=20)
    assert both.returncode == 0
