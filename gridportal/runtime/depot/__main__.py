"""A depot by itself: `python -m gridportal.runtime.depot --node n1 --listen 0.0.0.0:7782 --folder DIR --key-file FILE`.

The telemetry agent starts the same beside itself with `--depot`. It needs nothing but Python's standard library.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys

if "hashlib" not in sys.modules:
    sys.modules["_hashlib"] = None  # type: ignore[assignment] # as in the agent: OpenSSL is large and not needed

from gridportal.base.errors import GridPortalError
from gridportal.runtime.agent import keys
from gridportal.runtime.depot import depot_options
from gridportal.runtime.depot.depot_server import DepotServer


def main(argv: list[str]) -> int:
    """Serve until SIGTERM; 2 with one sentence where what is given cannot be used."""
    parser = argparse.ArgumentParser(prog="gridportal.runtime.depot", description="Keeps the checkpoints of a node.")
    parser.add_argument("--node", default=socket.gethostname().partition(".")[0], help="name that runs know it by")
    parser.add_argument("--listen", required=True, help="HOST:PORT, port 0 for any; written to standard output")
    parser.add_argument("--key-file", help=f"file with the depots' key, mode 600; else ${keys.VARIABLE}")
    depot_options.add(parser, "")
    options = parser.parse_args(argv)
    try:
        key = keys.read(options.key_file)
        listener, store = depot_options.prepared(options.listen, options.folder, options.space, options.job_space)
    except (GridPortalError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    sys.stdout.write("{}:{}\n".format(*listener.getsockname()[:2]))
    sys.stdout.flush()
    DepotServer(listener, key, options.node, store).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
