"""The very commands of the container files, in their order, without an engine: real Redis and PostgreSQL."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from gridportal.base import processes as shell
from gridportal.base.portal_settings import BASE_DIR
from gridportal.serve.postgres import newest_binaries
from tests import migrated
from tests.docker.files import compose, instructions
from tests.gridportal.serve.demo.demo_process import free_port
from tests.servers import redis_server
from tests.waiting import looks

pytestmark = pytest.mark.timeout(400)


def copied_tree(folder: Path) -> Path:
    """What the Dockerfile copies, and nothing else; compiled, as it leaves it."""
    folder.mkdir()
    for word, text in instructions():
        if word != "COPY" or text.startswith("--from"):
            continue
        *sources, target = text.split()
        for source in sources:
            place = folder / target / (source if target == "./" else "")
            if (BASE_DIR / source).is_dir():
                shutil.copytree(BASE_DIR / source, folder / target)
            else:
                shutil.copy(BASE_DIR / source, place)
    return folder


def healthy(check: Mapping[str, Any], env: Mapping[str, str], cwd: Path, seconds: float = 120) -> bool:
    """Ask as docker does, again and again, until it says so or `seconds` are over."""
    kind, *argv = check["test"]
    assert kind == "CMD"
    return any(
        subprocess.run(argv, env=env, cwd=cwd, capture_output=True, timeout=90).returncode == 0 for _ in looks(seconds)
    )


def with_port(words: list[str], port: int) -> list[str]:
    """The container's own address becomes this machine's loopback."""
    return [word.replace("0.0.0.0:8000", f"127.0.0.1:{port}").replace("8000", str(port)) for word in words]


@contextmanager
def started(argv: list[str], env: Mapping[str, str], cwd: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as out:
        process = shell.start(argv, stdout=out.fileno(), stderr=subprocess.STDOUT, env=env, cwd=str(cwd))
    try:
        yield process
        assert process.poll() is None, log.read_text()
    finally:
        process.terminate()
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=60)


@pytest.mark.redis
@pytest.mark.postgres
def test_migrate_web_worker_and_beat_start_in_order_and_their_checks_say_healthy(tmp_path: Path) -> None:
    port = free_port()
    home = tmp_path / "home"
    values = {"POSTGRES_PASSWORD": "unused", "GRIDPORTAL_SECRET_KEY": "k" * 60, "GRIDPORTAL_HOME": str(home)}
    services = compose(values)["services"]
    app = copied_tree(tmp_path / "app")
    with ExitStack() as stack:
        redis_url, database_url = stack.enter_context(redis_server()), stack.enter_context(migrated.postgres_server())
        env = container_environment(services["web"]["environment"], app, redis_url, database_url)

        here = subprocess.run(
            ["python", "-c", "import gridportal.base.portal_settings; print(gridportal.base.portal_settings.BASE_DIR)"],
            env=env,
            cwd="/",
            capture_output=True,
            text=True,
            timeout=90,
            check=True,
        ).stdout.strip()
        assert here == str(app), "the portal of the checkout runs instead of what is copied"
        check = services["broker"]["healthcheck"]
        check["test"] = [*check["test"][:2], "-s", urlsplit(redis_url).path, *check["test"][2:]]
        assert healthy(check, env, app)
        assert healthy(services["database"]["healthcheck"], env, app)

        done = subprocess.run(
            services["migrate"]["command"], env=env, cwd=app, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        assert (home / "staticfiles" / "staticfiles.json").exists()

        for name in ("web", "worker", "beat"):
            argv = with_port(services[name]["command"], port)
            stack.enter_context(started(argv, env, app, tmp_path / f"{name}.log"))
        for name in ("web", "worker", "beat"):
            check = services[name]["healthcheck"] | {"test": with_port(services[name]["healthcheck"]["test"], port)}
            assert healthy(check, env, app), (tmp_path / f"{name}.log").read_text()
        assert not (home / "gridportal.sqlite3").exists()


def container_environment(given: Mapping[str, str], app: Path, redis_url: str, database_url: str) -> dict[str, str]:
    """What the compose file sets, with the addresses of our servers, and the copied tree as the only portal."""
    binaries = newest_binaries()
    path = [str(Path(sys.executable).parent), *([str(binaries)] if binaries else []), "/usr/local/bin:/usr/bin:/bin"]
    return {
        **given,
        "PATH": os.pathsep.join(path),
        "PYTHONPATH": str(app),
        "PYTHONDONTWRITEBYTECODE": "1",
        "REDIS_URL": redis_url,
        "DATABASE_URL": database_url,
        "GRIDPORTAL_ALLOWED_HOSTS": ".portal.example",  # as behind a TLS proxy, which checks do not come through
        "GRIDPORTAL_SECURE_COOKIES": "true",
        "PGHOST": parse_qs(urlsplit(database_url).query)["host"][0],
    }


@pytest.mark.redis
def test_a_check_of_something_that_does_not_run_says_so(tmp_path: Path) -> None:
    services = compose({"POSTGRES_PASSWORD": "x", "GRIDPORTAL_SECRET_KEY": "k" * 60})["services"]
    with redis_server() as url:
        env = {**os.environ, "GRIDPORTAL_HOME": str(tmp_path), "REDIS_URL": url}
        env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
        for name in ("web", "worker"):
            check = services[name]["healthcheck"] | {
                "test": with_port(services[name]["healthcheck"]["test"], free_port())
            }
            assert not healthy(check, env, BASE_DIR, seconds=0)


def test_the_installing_commands_of_the_image_are_sound_shell_and_name_what_they_should(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    for name in ("apt-get", "groupadd", "useradd", "install", "rm"):
        stand_in = tmp_path / name
        stand_in.write_text(f'#!/bin/sh\necho {name} "$@" >>{calls}\n')
        stand_in.chmod(0o755)
    args = dict(text.split("=", 1) for word, text in instructions() if word == "ARG")
    scripts = [text for word, text in instructions() if word == "RUN" and "/opt/venv" not in text]
    for script in scripts:
        env = args | {"UID": "1234", "PATH": str(tmp_path)}
        subprocess.run(["/bin/sh", "-euc", script], env=env, check=True, timeout=60)
    called = [line for line in calls.read_text().splitlines() if not line.startswith("rm ")]
    assert called == [
        "apt-get update",
        "apt-get install -y --no-install-recommends acl openssh-client slurm-client",
        "groupadd --non-unique --gid 1000 gridportal",
        "useradd --non-unique --uid 1234 --gid 1000 --create-home --shell /usr/sbin/nologin gridportal",
        "install -d -o 1234 -g 1000 -m 0700 /srv/gridportal",
    ]
