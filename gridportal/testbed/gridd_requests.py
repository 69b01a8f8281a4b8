"""One request to gridd, the daemon of a Grid, and its answer."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from typing import Any

from gridportal.base.errors import BackendError, InputError, LaterError
from gridportal.testbed.state import State

#: Seconds that an answer may take which needs no work on links or nodes.
QUICK = 30.0


def ask(state: State, op: str, arguments: Mapping[str, Any] | None = None, timeout: float = QUICK) -> Any:
    """What the Grid of a state directory answers to `op`, within `timeout` seconds.

    Raises BackendError in one sentence when the Grid is not up or refuses, LaterError where it has no room now,
    InputError for a value that it does not accept.
    """
    record = state.record()
    if record is None:
        raise BackendError(
            f"No Grid is up in {state.root}; start one (gridportal testbed up crossbar10), "
            "or, if it was started with another GRIDPORTAL_HOME, set that here too."
        )
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(timeout)
            connection.connect(record["socket"])
            connection.sendall(json.dumps({"op": op, **(arguments or {})}).encode() + b"\n")
            line = connection.makefile("rb").readline()
    except TimeoutError as error:
        raise BackendError(f"The Grid gave no answer to {op} within {timeout:g} s.") from error
    except OSError as error:
        raise BackendError(
            f"The Grid in {state.root} does not answer ({error.strerror}); take it down and up again."
        ) from error
    return _result(line, op)


def _result(line: bytes, op: str) -> Any:
    if not line:
        raise BackendError(f"The Grid ended while it was asked for {op}.")
    answer = json.loads(line)
    if "input" in answer:
        raise InputError(*answer["input"])
    if "error" in answer:
        raise (LaterError if answer.get("later") else BackendError)(answer["error"])
    return answer["result"]
