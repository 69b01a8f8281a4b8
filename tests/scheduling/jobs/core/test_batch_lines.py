"""Reading #SBATCH lines: what the form takes, and what is named."""

from __future__ import annotations

import pytest

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
    assert lines.unread == ("--array=1-10", "--mail-user=ann@example.org")


def test_lines_behind_the_first_command_do_not_count():
    assert read_batch_lines("hostname\n#SBATCH -n 4\n").fields == {}


def test_the_last_of_two_counts():
    assert read_batch_lines("#SBATCH -n 4\n#SBATCH --ntasks=8\n").fields == {"ranks": 8}


@pytest.mark.parametrize(
    "option",
    ["--ntasks=many", "--nodes=2-4", "-n 0", "--time=soon", "--mem=much", "--mem=0", "-n ٤", '--job-name="', "-Z"],
)
def test_what_cannot_be_read_is_named(option):
    lines = read_batch_lines(f"#SBATCH {option}\n")
    assert (lines.fields, lines.options) == ({}, {})
    assert lines.unread == (option,)


def test_memory_of_a_processor_becomes_that_of_a_rank():
    fields = read_batch_lines("#SBATCH --mem-per-cpu=512M\n#SBATCH -c4\n").fields
    assert fields == {"memory_per_rank": 2048, "cpus_per_rank": 4}


def test_no_limit_of_time_is_none():
    assert read_batch_lines("#SBATCH --time=UNLIMITED\n#SBATCH -t 0\n").fields == {}
