"""Why a job is pending, in words, with the thing to do next."""

from __future__ import annotations

import re
from dataclasses import dataclass

_WAIT = "It starts by itself."
_ADMIN = "Ask the cluster's administrators."


@dataclass(frozen=True, slots=True)
class Pending:
    """Slurm's word for it, a sentence, and the next step (both "" when Slurm gave no reason).

    `can_start` is False where waiting alone will never help. `expected_start` in Unix seconds.
    """

    reason: str
    summary: str
    next_step: str
    can_start: bool = True
    expected_start: float | None = None

    @property
    def sentence(self) -> str:
        """Both together."""
        return f"{self.summary} {self.next_step}".strip()


#: reason -> (sentence, next step, whether waiting can help)
REASONS: dict[str, tuple[str, str, bool]] = {
    "None": ("The scheduler has not looked at the job yet.", _WAIT, True),
    "Priority": ("Jobs of higher priority are ahead in the queue.", _WAIT, True),
    "Resources": ("The chosen nodes are busy.", "Wait for them, or choose again among the free ones.", True),
    "Nodes_required_for_job_are_DOWN,_DRAINED_or_reserved_for_jobs_in_higher_priority_partitions": (
        "Chosen nodes are down, drained or reserved for other partitions.",
        "Choose other nodes.",
        True,
    ),
    "ReqNodeNotAvail": ("A chosen node is down, drained or reserved.", "Choose other nodes, or wait for it.", True),
    "NodeDown": ("A chosen node is down.", "Choose other nodes, or wait until it is repaired.", True),
    "Dependency": ("It waits for another job to end.", _WAIT, True),
    "DependencyNeverSatisfied": (
        "The job it depends on ended in another way than asked for.",
        "Cancel it and resubmit without that dependency.",
        False,
    ),
    "BeginTime": ("Its earliest start time has not come yet.", _WAIT, True),
    "JobHeldUser": ("It is held by its owner.", "Release it to let it run.", False),
    "JobHeldAdmin": ("It is held by an administrator, who alone can release it.", _ADMIN, False),
    "JobHoldMaxRequeue": (
        "It was put back into the queue too often and is held.",
        "See its log for why it fails, then release it.",
        False,
    ),
    "Reservation": ("Its reservation has not begun.", _WAIT, True),
    "ReservationDeleted": ("Its reservation was deleted.", "Choose another reservation and resubmit.", False),
    "InvalidReservation": ("Its reservation does not exist.", "Choose another reservation and resubmit.", False),
    "Licenses": ("It waits for licenses that other jobs use.", _WAIT, True),
    "BurstBufferResources": ("It waits for space in the burst buffer.", _WAIT, True),
    "BurstBufferStageIn": ("Its files are being copied into the burst buffer.", _WAIT, True),
    "BurstBufferOperation": ("An operation on the burst buffer failed.", _ADMIN, False),
    "Prolog": ("Its nodes are being prepared (prolog).", _WAIT, True),
    "Cleaning": ("Its earlier attempt is being cleaned up.", _WAIT, True),
    "PartitionDown": ("The partition is down.", "Choose another partition, or wait until it is up.", True),
    "PartitionInactive": ("The partition starts no jobs at present.", "Choose another partition, or wait.", True),
    "PartitionNodeLimit": (
        "It asks for more or fewer nodes than the partition allows or has.",
        "Ask for another number of nodes, or choose another partition.",
        False,
    ),
    "PartitionTimeLimit": (
        "Its time limit is beyond the partition's.",
        "Ask for less time, or choose another partition.",
        False,
    ),
    "PartitionConfig": ("The partition does not allow such a job.", "Choose another partition.", False),
    "BadConstraints": ("No node can meet its constraints.", "Change features, GRES, memory or nodes.", False),
    "AccountNotAllowed": ("Its account may not use the partition.", "Choose another account or partition.", False),
    "AccountingPolicy": ("A limit of the accounting policy is reached.", "Wait, or ask for less.", True),
    "QOSNotAllowed": ("Its QOS may not be used here.", "Choose another QOS or partition.", False),
    "InvalidQOS": ("Its QOS does not exist.", "Choose another QOS.", False),
    "InvalidAccount": ("Its account does not exist or is not yours.", "Choose another account.", False),
    "QOSUsageThreshold": ("The QOS's usage threshold is passed.", "Wait, or choose another QOS.", True),
    "QOSJobLimit": ("The QOS's limit of jobs is reached.", "Wait for jobs to end, or choose another QOS.", True),
    "QOSResourceLimit": ("A resource limit of the QOS is reached.", "Wait, or choose another QOS.", True),
    "QOSTimeLimit": ("The QOS's limit of time is reached.", "Ask for less time, or choose another QOS.", True),
    "AssociationJobLimit": ("The account's limit of jobs is reached.", "Wait for jobs to end.", True),
    "AssociationResourceLimit": ("A resource limit of the account is reached.", "Wait for jobs to end.", True),
    "AssociationTimeLimit": ("The account's limit of time is reached.", "Ask for less time.", True),
    "JobArrayTaskLimit": ("As many tasks of its array run as are allowed at once.", _WAIT, True),
    "JobArrayLimit": ("As many tasks of its array run as are allowed at once.", _WAIT, True),
    "InactiveLimit": ("It reached the limit of inactivity.", "Resubmit it.", False),
    "JobLaunchFailure": ("It could not be launched on its nodes.", _ADMIN, False),
    "launch_failed_requeued_held": (
        "It could not be launched, was put back and is held.",
        "See its log, then release it.",
        False,
    ),
    "launch failed requeued held": (
        "It could not be launched, was put back and is held.",
        "See its log, then release it.",
        False,
    ),
    "user_env_retrieval_failed_requeued_held": (
        "The user's environment could not be read, so it is held.",
        "See the login scripts of the account, then release it.",
        False,
    ),
    "FrontEndDown": ("No front-end node is up.", "Wait until one is repaired.", True),
    "SystemFailure": ("Slurm, the file system or the network failed.", _ADMIN, False),
    "MaxMemPerLimit": ("It asks for more memory than a node or CPU may give.", "Ask for less memory.", False),
    "MaxRequeue": ("It was put back into the queue too often.", "See its log for why it fails.", False),
    "DeadLine": ("It cannot end before its deadline.", "Resubmit it with a later deadline.", False),
    "FedJobLock": ("The clusters of the federation agree on who starts it.", _WAIT, True),
    "TimeOut": ("It reached its time limit before.", "Ask for more time.", False),
    "NonZeroExitCode": ("Its earlier attempt ended with an error.", "See its log.", False),
    "RaisedSignal": ("Its earlier attempt was ended by a signal.", "See its log.", False),
    "OutOfMemory": ("Its earlier attempt ran out of memory.", "Ask for more memory.", False),
}

#: How reasons begin of a job that waits for nodes which may be down.
NODES_AWAY = ("ReqNodeNotAvail", "Nodes_required_for_job_are", "NodeDown")

_LIMIT = re.compile(r"^(?P<whose>QOS|Assoc|Part)(?P<kind>Grp|Max|Min|Usage)?(?P<what>\w*?)(?P<per>Per\w+?)?(?:Limit)?$")
_WHOSE = {"QOS": "The QOS's", "Assoc": "The account's", "Part": "The partition's"}
_KIND = {"Grp": "limit", "Max": "limit", "Min": "lower limit", "Usage": "usage limit"}
_WHAT = {
    "CPU": "CPUs",
    "Cpu": "CPUs",
    "Mem": "memory",
    "Memory": "memory",
    "GRES": "GRES (such as GPUs)",
    "Node": "nodes",
    "Job": "jobs",
    "Jobs": "jobs",
    "SubmitJobs": "submitted jobs",
    "SubmitJob": "submitted jobs",
    "Submit": "submitted jobs",
    "Wall": "wall time",
    "WallDuration": "wall time",
    "CpuMinutes": "CPU minutes",
    "CPUMinutes": "CPU minutes",
    "CPURunMinutes": "CPU minutes of running jobs",
    "GRESMinutes": "GRES minutes",
    "Billing": "billing units",
    "MemMinutes": "memory minutes",
    "NodeMinutes": "node minutes",
    "BillingMinutes": "billing minutes",
    "License": "licenses",
    "Energy": "energy",
    "BB": "burst buffer space",
}


def explain(reason: str, expected_start: float | None = None) -> Pending:
    """Slurm's reason in words. A reason that is not known is kept as it is.

    >>> explain("QOSMaxCpuPerUserLimit").summary
    "The QOS's limit of CPUs per user is reached."
    >>> explain("(SomethingNew)").summary
    'Slurm says: SomethingNew.'
    """
    bare = reason.strip()
    bare = (bare[1:-1] if bare.startswith("(") and bare.endswith(")") else bare) or "None"
    word = bare.split(",")[0].strip()
    row = REASONS.get(bare) or REASONS.get(word)
    if row is None:
        row = _limit(word) or (f"Slurm says: {bare.rstrip('.')}.", "", True)
    summary, step, can_start = row
    unavailable = re.search(r"UnavailableNodes:(\S+)", bare)
    if unavailable:
        summary = f"Chosen nodes are down, drained or reserved: {unavailable[1].rstrip(')')}."
    return Pending(bare, summary, step, can_start, expected_start)


def _limit(word: str) -> tuple[str, str, bool] | None:
    """QOSMaxCpuPerUserLimit, AssocGrpGRES, ...: a family of some hundred words with one grammar."""
    match = _LIMIT.match(word)
    if not match or not match["kind"]:
        return None
    what = _WHAT.get(match["what"], match["what"])
    per = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", match["per"] or "").lower()
    per = "for all running jobs together" if match["kind"] == "Grp" else per
    parts = f"{_WHOSE[match['whose']]} {_KIND[match['kind']]}" + (f" of {what}" if what else "")
    summary = f"{parts}{' ' + per if per else ''} is reached."
    if match["kind"] == "Min":
        return summary.replace("is reached", "is not met"), "Ask for more.", False
    # A limit per job, or on wall time, is met by this job alone: no other job's end will help.
    by_itself = per == "per job" or (match["kind"] == "Max" and what == "wall time")
    return (
        summary,
        "Ask for less and resubmit." if by_itself else "Wait for jobs to end, or ask for less.",
        not by_itself,
    )
