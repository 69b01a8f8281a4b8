"""Why Slurm is silent: what a ping says within seconds, while other commands try for most of a minute."""

from __future__ import annotations

#: Asked so loudly that a client tells of each attempt to reach munge; quietly it tells of the last one only.
PING = ("scontrol", "-vvvv", "ping")
PATIENCE = 4.0

_DOWN = ("failed to access", "failed to connect", "if munged is up", "retrying")


def munge_is_down(output: str) -> bool:
    """Whether a client says that it cannot reach munge. A wrong key or clock is another matter.

    >>> munge_is_down('Munge encode failed: Failed to access "/run/munge/m.socket.2": No such file or directory')
    True
    >>> munge_is_down("Munge decode failed: Invalid credential")
    False
    """
    lines = [line for line in output.lower().splitlines() if "munge" in line]
    return any(sign in line for line in lines for sign in _DOWN)


def why(output: str, where: str) -> str:
    """The end of a sentence from a ping's words and the machine it ran on; "" when they tell nothing.

    >>> why("Slurmctld(primary) at ctl is DOWN", "login")
    'slurmctld is down; see whether it runs.'
    """
    if munge_is_down(output):
        return f"munge does not answer on {where}: start munged there."
    lines = [line for line in output.splitlines() if line.startswith("Slurmctld(")]
    if any(line.rstrip().endswith("UP") for line in lines):
        return "slurmctld is up but busy; it will be asked again."
    if lines:
        return "slurmctld is down; see whether it runs."
    return ""
