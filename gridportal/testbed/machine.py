"""What this machine permits the Grid: namespaces as root, in a user namespace, or none."""

from __future__ import annotations

import os
import re
import shutil

from gridportal.base import processes as shell
from gridportal.base.errors import InputError, ShellError
from gridportal.testbed import cgroups

MODES = ("user-namespaces", "root", "unshaped")
_REFUSED = re.compile(r"not permitted|permission denied|not supported|not implemented|\bunknown\b", re.IGNORECASE)
_TRIAL = (
    "ip link add name try0 type veth peer name try1",
    "tc qdisc add dev try0 root tbf rate 1mbit burst 9kb limit 9kb",
    "tc qdisc add dev try1 root handle 1: htb default 0",
    "tc class add dev try1 parent 1: classid 1:1 htb rate 1mbit",
    "tc filter add dev try1 parent 1: protocol ip prio 1 u32 match ip dst 10.77.0.1/32 flowid 1:1",
)
_PATIENCE = 10.0
_NEEDED = ("ip", "tc", "unshare", "nsenter")
_FLAGS = {
    "root": ["--net", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"],
    "user-namespaces": [
        *("--user", "--map-root-user", "--net", "--mount", "--uts", "--pid"),
        *("--fork", "--kill-child", "--mount-proc"),
    ],
}


def choose(wanted: str | None = None) -> tuple[str, str | None]:
    """The mode for this machine and user, and a warning where it is "unshaped".

    `wanted` (or the environment's GRIDPORTAL_TESTBED_MODE) asks for one; InputError when it is not a mode.
    """
    wanted = wanted or os.environ.get("GRIDPORTAL_TESTBED_MODE") or None
    if wanted is not None:
        if wanted not in MODES:
            raise InputError("GRIDPORTAL_TESTBED_MODE", wanted, "one of " + ", ".join(MODES))
        return wanted, warning("it was asked for") if wanted == "unshaped" else None
    missing = missing_tools()
    if missing:
        return "unshaped", warning(f"{', '.join(missing)} is missing; apt-get install iproute2 util-linux")
    mode = "root" if os.geteuid() == 0 else "user-namespaces"
    why = refusal(mode)
    return ("unshaped", warning(why)) if why else (mode, None)


def missing_tools() -> list[str]:
    """The programs that a Grid needs and that are not here."""
    return [name for name in _NEEDED if shutil.which(name, path=tool_path()) is None]


def shaping_problem() -> str | None:
    """Why links cannot be shaped here, in the kernel's words; None when they can."""
    return refusal("root" if os.geteuid() == 0 else "user-namespaces")


def cpu_cgroup() -> str | None:
    """The control group under which nodes would get their share of the processor; None when none is writable."""
    place = cgroups.writable_place()
    return str(place) if place else None


def refusal(mode: str) -> str | None:
    """Why this machine does not let us build a Grid in `mode`; None when it does, or was too busy to say."""
    try:
        shell.run([*prefix(mode), "sh", "-c", " && ".join(_TRIAL)], timeout=_PATIENCE, env={"PATH": tool_path()})
    except shell.TooSlowError:
        return None
    except ShellError as error:
        return f"the kernel does not permit it: {error}"
    return None


def is_refusal(message: str) -> bool:
    """Whether what a failed command or system call said means that this kernel does not permit or know it.

    >>> is_refusal("mount /sys: Operation not permitted"), is_refusal('Illegal "rate"')
    (True, False)
    """
    return bool(_REFUSED.search(message))


def prefix(mode: str) -> list[str]:
    """The command that puts what follows into namespaces of its own, which end with it; none when unshaped."""
    return ["unshare", *_FLAGS[mode]] if mode in _FLAGS else []


def tool_path() -> str:
    """PATH with the folders of ip and tc, which ordinary users often have not."""
    return f"{os.environ.get('PATH', '/usr/local/bin:/usr/bin:/bin')}:/usr/sbin:/sbin"


def warning(why: str) -> str:
    """The plain words for a Grid that is not shaped."""
    what = "programs really run, but every link is as fast as this machine"
    return f"The Grid is not shaped on this machine ({why.rstrip('.')}): {what}."
