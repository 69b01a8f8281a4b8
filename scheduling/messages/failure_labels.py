"""Why jobs failed, in two or three words for lists and reports; the whole sentence is `message(reason)`."""

from __future__ import annotations

from collections.abc import Mapping

from gridportal.base.codes import Code

_LABELS: Mapping[Code, str] = {
    Code.ENDED: "program failed",
    Code.FAILED_WITH: "program failed, continuable",
    Code.NO_PROGRAM: "program not found",
    Code.PROGRAM_NOT_SHARED: "program not found",
    Code.UNREADABLE: "end record unreadable",
    Code.OUTPUT_SAYS_FAILURE: "output reports failure",
    Code.OUTPUT_LACKS_SUCCESS: "output lacks success",
    Code.OUTPUT_TOO_SLOW: "output check too slow",
    Code.ABORTED: "MPI_Abort called",
    Code.OUT_OF_MEMORY: "out of memory",
    Code.TIMED_OUT: "time limit reached",
    Code.OVER_TIME_LIMIT: "time limit reached",
    Code.DEADLINE: "deadline passed",
    Code.NODE_FAILED: "node failed",
    Code.NODE_NOT_BOOTED: "node not booted",
    Code.NODE_NOT_RECONFIGURED: "node not reconfigured",
    Code.NOT_LAUNCHED: "job not launched",
    Code.SPECIAL_EXIT: "special exit code",
    Code.PREEMPTED: "preempted",
    Code.NODES_PREEMPTED: "nodes preempted",
    Code.REVOKED: "revoked by cluster",
    Code.RESERVATION_DELETED: "reservation deleted",
    Code.STOPPED_THERE: "stopped on cluster",
    Code.STOPPED_BY_SIGNAL: "stopped by signal",
    Code.JOB_CANCELLED: "cancelled on cluster",
    Code.CANCELLED_THERE: "cancelled on cluster",
    Code.FORGOTTEN_THERE: "lost by cluster",
    Code.GRID_RESTARTED: "Grid restarted",
    Code.GRID_ENDED: "Grid ended first",
    Code.WATCHER_ENDED: "machine or watcher ended",
    Code.NOT_STOPPED: "did not stop",
    Code.STOPS_TOO_SLOWLY: "stopped too slowly",
    Code.MOVE_LOST: "move failed",
    Code.NO_CHECKPOINT: "checkpoint missing",
    Code.SHARD_MISSING: "checkpoint incomplete",
    Code.SHARD_CHANGED: "checkpoint damaged",
    Code.SHARDS_GONE: "checkpoint lost",
}
_OTHER = "other reason"
_UNTOLD = ("", "none", Code.PLAIN_TEXT.value, Code.PLAIN_TEXT_WITH_LOG.value)


def failure_label(code: str) -> str:
    """The words for the code of a reason; of one without a label the code as words.

    >>> failure_label("ended"), failure_label("node_failed"), failure_label(""), failure_label("license_busy")
    ('program failed', 'node failed', 'other reason', 'license busy')
    """
    labels = {each.value: label for each, label in _LABELS.items()}
    return _OTHER if code in _UNTOLD else labels.get(code, code.replace("_", " "))
