"""The script of a run for `sbatch FILE`: what the portal says on sbatch's command line stands in its #SBATCH lines."""

from __future__ import annotations

import shlex

from gridportal.base import run_files
from gridportal.base.batch_system import RunSpec
from gridportal.slurm.job_parts import NEXT_PART
from gridportal.slurm.submit import SlurmOptions, argv, job_name, script

#: What is the portal's own affair: by name and comment it finds its jobs, and would take this one for its own.
_PORTALS = ("--parsable", "--job-name=", "--comment=", "--hold")
_HEADER = """\
# By hand on a login node: sbatch FILE. It leaves its output in the folder of --output; to have all in a folder of your
# own, which is there and which you can write into, put its path in place of this one everywhere.
# What an earlier attempt has left shall not end this one.
[ "${{SLURM_RESTART_COUNT:-0}}" != 0 ] || rm -f {exit}
"""


def by_hand(spec: RunSpec, options: SlurmOptions) -> str:
    """The text of the file. sbatch reads its lines as a shell would: words with other than plain letters are quoted.
    Raises InputError as `argv` does."""
    words = [word for word in argv(spec, options)[1:] if not word.startswith(_PORTALS)]
    lines = [f"--job-name={job_name(spec.key)}-by-hand", *words]
    first, _, rest = script(spec, options).partition("\n")
    asked = "".join(f"#SBATCH {'hetjob' if line == NEXT_PART else shlex.quote(line)}\n" for line in lines)
    return f"{first}\n{asked}{_HEADER.format(exit=shlex.quote(f'{spec.run_dir}/{run_files.EXIT}'))}{rest}"
