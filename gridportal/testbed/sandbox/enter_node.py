"""What mpiexec calls in place of ssh inside a run: [options] HOST COMMAND... runs COMMAND on another node of the run.

Like ssh it joins the words of the command and lets a shell read them. It is started once for each rank, with nothing
but what the interpreter has built in: that takes half of the time.
"""

import _socket
import os
import sys

_DOOR = "/run/gridportal/door"


def main(argv: list[str]) -> int:
    """The exit code of the command, or 255 with a sentence."""
    while argv and argv[0].startswith("-"):
        argv = argv[1:]
    if not argv:
        return _fail("usage: enter-node [options] HOST COMMAND...")
    environment = [name + b"=" + value for name, value in os.environb.items()]
    request = b"\0".join([os.fsencode(argv[0]), os.fsencode(" ".join(argv[1:])), *environment])
    door = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        door.connect(_DOOR)
        rights = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
        door.sendmsg([len(request).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
        door.sendall(request)
        answer = door.recv(64)
    except OSError as error:
        return _fail(f"The way to node {argv[0]} is closed: {error.strerror}.")
    return int(answer) if answer.isdigit() else _fail(f"The command on node {argv[0]} was ended.")


def _fail(message: str) -> int:
    sys.stderr.write(message + "\n")
    return 255


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))
