"""Slurm's accounts on the Grid: a MariaDB that only the fabric can reach, slurmdbd before it, accounts to choose."""

from __future__ import annotations

from pathlib import Path

from gridportal.base.errors import BackendError
from gridportal.testbed.slurm.config import HOME
from gridportal.testbed.slurm.daemons import Daemon, demand, listening
from gridportal.testbed.spawn import Spawner

_DATABASE_PORT, _SLURMDBD_PORT = 3306, 6819
_INSTALL = [
    "mariadb-install-db",
    "--no-defaults",
    "--user=root",
    f"--datadir={HOME}/db",
    "--auth-root-authentication-method=normal",
    "--skip-test-db",
    "--innodb-log-file-size=8M",
    "--innodb-flush-log-at-trx-commit=0",
]
#: What forms can offer: two accounts and three qualities of service for root.
_ENTRIES = (
    "add cluster grid",
    "add qos high Priority=1000",
    "add qos low Priority=1",
    "add account physics,chemistry Description=science Organization=grid QosLevel=normal,high,low",
    "add user root Account=physics,chemistry DefaultAccount=physics",
)


async def start(spawner: Spawner, home: Path, database: Daemon, slurmdbd: Daemon) -> None:
    """Make the database, start both daemons and enter the accounts. Raises BackendError in one sentence."""
    (home / "db").mkdir(mode=0o700, exist_ok=True)
    await demand(spawner, home, _INSTALL, 30)
    database.start()
    if not await listening(_DATABASE_PORT, 20):
        raise BackendError(f"The database of Slurm's accounts did not start: {database.why()}.")
    slurmdbd.start()
    if not await listening(_SLURMDBD_PORT, 20):
        raise BackendError(f"slurmdbd did not start: {slurmdbd.why()}.")
    for entry in _ENTRIES:
        await demand(spawner, home, ["sacctmgr", "--immediate", *entry.split()], 15)
