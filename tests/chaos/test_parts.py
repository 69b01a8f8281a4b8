"""Processes by the part they play."""

from __future__ import annotations

import pytest

from tests.chaos.parts import part_of


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("/x/python -m gridportal serve --port 8000", "supervisor"),
        ("/x/python -m gridportal demo --port 8000", "supervisor"),
        ("/x/python -m gunicorn gridportal.wsgi", "web"),
        ("/x/python -m celery -A gridportal.celery worker -P threads", "worker"),
        ("/x/python -m celery -A gridportal.celery_beat beat", "beat"),
        ("/usr/bin/redis-server unixsocket:/mnt/home/redis/broker.sock", "broker"),
        ("/usr/lib/postgresql/15/bin/postgres -D /mnt/home/postgres/data", "database"),
        ("postgres: gridportal gridportal [local] idle", "database-backend"),
        ("postgres: walwriter", "database-helper"),
        ("/x/python -m gridportal.testbed.gridd /mnt/home/grid /x/six.json root /mnt/home/grid/gridd.sock", "grid"),
        ("unshare --net -- /x/python -m gridportal.testbed.gridd /mnt/home/grid", ""),
        (
            "/x/python -m gridportal.testbed.gridd /mnt/slurm /x/four.json root /mnt/slurm/gridd.sock slurm",
            "slurm-grid",
        ),
        ("/usr/sbin/slurmctld -D", "slurmctld"),
        ("/usr/sbin/slurmd -D -N c1", "slurmd"),
        ("sh /mnt/ledger/launcher.sh", ""),
    ],
)
def test_a_command_tells_its_part(command, part):
    assert part_of(command) == part
