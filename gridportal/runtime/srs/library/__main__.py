"""`python -m gridportal.runtime.srs.library --mpicc mpicc -o DIR`: the library of SRS, where no portal is installed."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gridportal.base.errors import GridPortalError
from gridportal.runtime.srs.library import building


def main() -> int:
    """Build, and say how programs are linked; 0, or the exit code of what was wrong."""
    parser = argparse.ArgumentParser(prog="python -m gridportal.runtime.srs.library", description=__doc__)
    parser.add_argument("--mpicc", default="mpicc", help="the MPI compiler of the programs")
    parser.add_argument("--mpifort", help="its compiler of Fortran; the one beside mpicc where there is one")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the folder for header and library")
    options = parser.parse_args()
    try:
        building.build(options.mpicc, options.output, options.mpifort)
    except (GridPortalError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return getattr(error, "exit_code", 1)
    sys.stdout.write(f"{building.link_flags(options.output)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
