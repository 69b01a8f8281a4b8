"""A small site for tests: people, sudo rules and a shared folder that exist in a mount namespace and nowhere else.

Slurm is the emulated Grid's, started inside. The portal runs there as the user `gridportal`, who is nobody special;
`ann` and `ben` have accounts and are in the group `gridusers`, `eve` has an account and is not. All of it ends with
the process that made it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

from gridportal.base import processes as shell
from gridportal.testbed import machine
from gridportal.testbed.client import Grid
from gridportal.testbed.slurm import place
from tests import migrated
from tests.scheduling.portal import _START, SETTINGS, Portal
from tests.warm_python import WarmPython

CHECKOUT = Path(__file__).resolve().parents[3]
GUIDE = CHECKOUT / "docs/administrator.md"
PEOPLE = {"gridportal": 61200, "ann": 61201, "ben": 61202, "eve": 61203}
GROUP = 61300
SHARED = "/srv/shared"
RUNS = f"{SHARED}/runs"
HOME = "/srv/home/gridportal/portal"
SUDO = ("sudo", "-n", "-u", "{user}")

_SETUP = f"""\
set -eu
mount -t tmpfs -o mode=755 world /srv
mkdir -m 755 /srv/home {SHARED}
# All of it: a file that somebody else replaces in the meantime would lose what is mounted on it.
cp -a /etc /srv/etc
@PEOPLE@
cp "$1" /srv/etc/sudoers.d/gridportal && chmod 440 /srv/etc/sudoers.d/gridportal
mount --bind /srv/etc /etc
visudo -c >/dev/null
install -d -m 755 -o gridportal {RUNS}
shift
# Whoever is not root must reach this Python and the checkout too.
for each; do mkdir -p "/srv/keep$each" && mount --bind "$each" "/srv/keep$each"; done
for each; do
    closed= folder=$(dirname "$each")
    while [ "$folder" != / ]; do
        [ -n "$(find "$folder" -maxdepth 0 -perm -o=x)" ] || closed=$folder
        folder=$(dirname "$folder")
    done
    [ -z "$closed" ] || mount -t tmpfs -o mode=755 opened "$closed"
done
for each; do
    [ -e "$each/." ] && [ -n "$(ls "$each")" ] || {{ mkdir -p "$each" && mount --bind "/srv/keep$each" "$each"; }}
done
"""


def missing() -> str:
    """Why there can be no such site here, or ""."""
    if os.geteuid() != 0 or machine.choose()[0] != "root":
        return "people and mounts of a test's own need root and namespaces"
    absent = [name for name in ("sudo", "visudo", "setfacl", "runuser") if shutil.which(name) is None]
    absent += place.missing(accounting=False)
    return f"{', '.join(absent)} not installed: make test-deps" if absent else ""


def sudoers() -> str:
    """The sudoers lines of the administrator's guide, to the letter."""
    text = GUIDE.read_text(encoding="utf-8")
    found = re.search(r"```sudoers\n(.*?)```", text, re.DOTALL)
    assert found, "the guide shows no sudoers lines"
    return found[1]


class World:
    """The namespace, and the Grid with Slurm in it once `start_grid` was called."""

    def __init__(self, root: Path, rules: str) -> None:
        self.root = root
        self.state = root / "grid"
        self._holder = shell.start(["unshare", "--mount", "--propagation", "private", "sleep", "infinity"])
        self._up: subprocess.Popen[bytes] | None = None
        self._wait_for_namespace()
        (root / "sudoers").write_text(rules, encoding="utf-8")
        script = _SETUP.replace("@PEOPLE@", _accounts())
        needed = dict.fromkeys([sys.base_prefix, sys.prefix, str(CHECKOUT)])
        shell.run([*self.inside, "sh", "-c", script, "setup", str(root / "sudoers"), *needed], timeout=60)

    @property
    def inside(self) -> list[str]:
        """The words before a command that runs there as root."""
        return ["nsenter", "-t", str(self._holder.pid), "-m", "--"]

    def seen(self, path: str) -> Path:
        """A path of the world as it is seen from outside."""
        return Path(f"/proc/{self._holder.pid}/root{path}")

    def start_grid(self, topology: str) -> Grid:
        """The emulated Grid with a Slurm."""
        code = f"""
            import time
            from gridportal.testbed import launch
            launch.up({topology!r}, {str(self.state)!r}, with_parent=True, slurm="slurm")
            print("up", flush=True)
            time.sleep(1e6)
        """
        argv = [*self.inside, sys.executable, "-c", textwrap.dedent(code)]
        with (self.root / "up.out").open("wb") as out:
            self._up = shell.start(argv, stdout=out.fileno(), stderr=out.fileno(), env={"PYTHONPATH": str(CHECKOUT)})
        end = time.monotonic() + 120
        while "up\n" not in (said := (self.root / "up.out").read_text(encoding="utf-8")):
            assert self._up.poll() is None, said[-2000:]
            assert time.monotonic() < end, said[-2000:]
            time.sleep(0.1)
        return Grid(self.state)

    @property
    def grid(self) -> Grid:
        """The Grid, to hurt its daemons."""
        return Grid(self.state)

    def enter(self, user: str = "") -> list[str]:
        """The words before a command where slurmctld is, as `user`."""
        info = Grid(self.state).slurm_info()
        assert info is not None
        return [*info["prefix"], *(["runuser", "-u", user, "--"] if user else [])]

    def run(self, *argv: str, user: str = "", timeout: float = 90, stdin: str | None = None) -> shell.Completed:
        """A command where slurmctld is, whatever its exit code."""
        return shell.run([*self.enter(user), *argv], timeout=timeout, check=False, stdin=stdin)

    def close(self) -> None:
        """End the Grid and the namespace."""
        if self._up is not None:
            Grid(self.state).down()
            self._up.kill()
            self._up.wait(timeout=10)
        self._holder.kill()
        self._holder.wait(timeout=10)

    def _wait_for_namespace(self) -> None:
        end = time.monotonic() + 60
        own = os.readlink("/proc/self/ns/mnt")
        while os.readlink(f"/proc/{self._holder.pid}/ns/mnt") == own:
            assert time.monotonic() < end, "no mount namespace"
            time.sleep(0.02)


class SitePortal(Portal):
    """A portal that runs in the world as the user gridportal, and people of the names ada, ann, ben, eve and zoe."""

    def __init__(self, world: World, clusters: list[dict[str, Any]], home: str = HOME) -> None:
        self._world = world
        self._workers: WarmPython | None = None
        self._settings = {
            "GRIDPORTAL_HOME": home,
            **SETTINGS,
            "DJANGO_SETTINGS_MODULE": "gridportal.settings",
            "REDIS_URL": "",
            "DATABASE_URL": "",
            "GRIDPORTAL_CLUSTERS": json.dumps(clusters),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self._put_database_into(home)
        self.run("""
            for name in ("ada", "ann", "ben", "eve", "zoe"):
                User.objects.create_user(name)
            registering.install_catalogue()
        """)

    def _put_database_into(self, home: str) -> None:
        """A copy, as of other tests' portals."""
        folder = self._world.seen(home)
        migrated.put_into(folder)
        for path in (folder, *folder.iterdir()):
            os.chown(path, PEOPLE["gridportal"], -1)

    def set(self, **settings: str) -> None:
        """Change settings for the processes to come."""
        self._settings |= settings

    def _start(self, code: str, kill_at: str = "") -> int:
        self._renew()
        return super()._start(code, kill_at)

    def _renew(self) -> None:
        """A Grid that was started again is another place, and changed settings are another portal."""
        settings = [f"{name}={value}" for name, value in self._settings.items()]
        argv = [*self._world.enter("gridportal"), "env", *settings, sys.executable]
        if self._workers is None or self._workers.argv != argv or not self._workers.is_alive:
            self._workers = WarmPython(argv, _START, cwd=CHECKOUT)

    def submit_as(self, person: str, slug: str, nodes: int = 2, **parameters: Any) -> int:
        """The number of a new job of `person`."""
        job: int = self.run(f"""
            asked = job_spec.JobSpec(Application.objects.get(slug={slug!r}), {parameters!r}, {nodes})
            print(submission.submit_job(User.objects.get(username={person!r}), asked).pk)
        """)
        return job


def _accounts() -> str:
    lines = [f"echo 'gridusers:x:{GROUP}:ann,ben' >>/srv/etc/group"]
    for name, uid in PEOPLE.items():
        lines.append(f"echo '{name}:x:{uid}:{uid}::/srv/home/{name}:/bin/bash' >>/srv/etc/passwd")
        lines.append(f"echo '{name}:x:{uid}:' >>/srv/etc/group; echo '{name}:*:19000::::::' >>/srv/etc/shadow")
        lines.append(f"install -d -m 700 -o {uid} -g {uid} /srv/home/{name}")
    return "\n".join(lines)
