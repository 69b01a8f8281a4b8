"""Takes away what a job has in depots: `python -m gridportal.runtime.depot.free_job depots.json n1 n2`.

The portal does that when a job is over. This is for who uses depots without one; it runs where the depots are reached.
"""

from __future__ import annotations

import argparse
import sys

from gridportal.base.errors import GridPortalError
from gridportal.runtime.depot import depot_access
from gridportal.runtime.depot.depot_client import Depots


def main(argv: list[str]) -> int:
    """Free all nodes that answer; 2 with a sentence for each that does not."""
    parser = argparse.ArgumentParser(
        prog="gridportal.runtime.depot.free_job", description="Takes away what a job has in depots."
    )
    parser.add_argument("file", help="the job's file of depots")
    parser.add_argument("nodes", nargs="+", help="nodes whose depots are to be freed")
    options = parser.parse_args(argv)
    try:
        depots = Depots(depot_access.read(options.file), tries=2)
    except (GridPortalError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return max(_freed(depots, node) for node in options.nodes)


def _freed(depots: Depots, node: str) -> int:
    try:
        depots.free(node)
    except GridPortalError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
