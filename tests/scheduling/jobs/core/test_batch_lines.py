"""Reading #SBATCH lines: what the form takes, and what is named."""

from __future__ import annotations

import pytest

from scheduling.jobs.core.batch_dependencies import Dependencies
from scheduling.jobs.core.batch_lines import read_batch_lines

SCRIPT = """\
#!/bin/bash
# A comment of its own
#SBATCH --nodes=2 --ntasks-per-node 4
#SBATCH -c 2 -t 1-06:30:00   # a day and more
#SBATCH --mem=8G
#SBATCH -J "heat plate" -p long
#SBATCH --array=1-10
#SBATCH --mail-user=ann@example.org

srun ./heat
#SBATCH --ntasks=99
"""


def test_options_become_first_values_and_the_rest_is_named():
    lines = read_batch_lines(SCRIPT)
    assert lines.fields == {
        "node_count": 2,
        "ranks_per_node": 4,
        "cpus_per_rank": 2,
        "time_limit": 86400 + 6 * 3600 + 30 * 60,
        "name": "heat plate",
    }
    assert lines.options == {"memory": 8192, "partition": "long"}
    assert [each.written for each in lines.unread] == ["--array=1-10", "--mail-user=ann@example.org"]
    assert not any(each.accepted for each in lines.unread), "the form has no field for these"
    assert lines.passed == 1


def test_lines_behind_the_first_command_do_not_count():
    assert read_batch_lines("hostname\n#SBATCH -n 4\n").fields == {}


def test_the_last_of_two_counts():
    assert read_batch_lines("#SBATCH -n 4\n#SBATCH --ntasks=8\n").fields == {"ranks": 8}


@pytest.mark.parametrize(
    ("option", "accepted"),
    [
        ("--ntasks=many", "one whole number"),
        ("--nodes=2-4", "one whole number"),
        ("-n 0", "one whole number"),
        ("-n ٤", "one whole number"),
        ("--time=soon", "minutes"),
        ("--mem=much", "a size"),
        ("--mem=0", "a size"),
        ("--gres=gpu:0", "gpu:2"),
        ("--partition", "a name"),
        ("-d afterok:", "afterok:12:15"),
        ("-d afterok:12?afterany:13", "afterok:12:15"),
        ("-d after:12+5", "afterok:12:15"),
        ("-d singleton", "afterok:12:15"),
        ('--job-name="', ""),
        ("-Z", ""),
        ("--exclusive=user", ""),
    ],
)
def test_what_cannot_be_read_is_named(option, accepted):
    lines = read_batch_lines(f"#SBATCH {option}\n")
    assert (lines.fields, lines.options, lines.dependencies) == ({}, {}, Dependencies())
    (unread,) = lines.unread
    assert unread.written == option
    assert accepted in unread.accepted
    assert bool(accepted) == bool(unread.accepted)


def test_jobs_that_come_before_are_read():
    lines = read_batch_lines("#SBATCH -d afterok:12:15,after:16\n#SBATCH --gres=gpu:2 --exclusive\n")
    assert lines.dependencies == Dependencies((16,), (12, 15), (16,))
    assert (lines.options, lines.unread) == ({"gres": "gpu:2", "exclusive": True}, ())


def test_lines_beyond_the_most_are_counted():
    lines = read_batch_lines("#SBATCH -n 4\n" * 203 + "hostname\n#SBATCH -n 5\n")
    assert (lines.fields, lines.passed) == ({"ranks": 4}, 4)


def test_memory_of_a_processor_becomes_that_of_a_rank():
    fields = read_batch_lines("#SBATCH --mem-per-cpu=512M\n#SBATCH -c4\n").fields
    assert fields == {"memory_per_rank": 2048, "cpus_per_rank": 4}


def test_no_limit_of_time_is_none():
    assert read_batch_lines("#SBATCH --time=5\n#SBATCH --time=UNLIMITED\n#SBATCH -t 0\n").fields == {}
