"""Every cause that the portal tells somebody of, each with the names of its facts.

A new one is a line here and a sentence in scheduling.messages; tests compare the two. Facts: seconds, bit/s, fractions
0..1, names, ISO times; `more`: how many others there are besides those that are named; `why`: another reason.
"""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """Why something is as it is. The database and the API have these words: they are never changed, only added to."""

    facts: tuple[str, ...]

    def __new__(cls, value: str, *facts: str) -> Code:
        member = str.__new__(cls, value)
        member._value_ = value
        member.facts = facts
        return member

    NONE = "none"
    PLAIN_TEXT = "told", "text"
    PLAIN_TEXT_WITH_LOG = "told_with_log", "text", "log"  # of rows before there were codes

    # why a job waits
    TOO_FEW_FREE = "too_few_free", "needed", "free", "total", "holders", "more"
    TOO_FEW_CPUS = "too_few_cpus", "needed", "free", "total", "holders", "more"
    ENOUGH_FREE = "enough_free"
    NOT_AMONG_FREE = "not_among_free", "why", "holders", "more"
    NOT_NOW = "not_now", "why", "min_bandwidth", "min_cpu"
    OUT_OF_REACH = "out_of_reach", "why", "min_bandwidth", "min_cpu"
    CONTRACT_REJECTED = "contract_rejected", "nodes", "seconds", "limit", "model"
    NODES_BUSY = "nodes_busy", "nodes", "holders", "more"
    NODES_CLOSED = "nodes_closed", "closed", "more"
    NODES_TAKEN = "nodes_taken"
    BEHIND = "behind", "named", "more"
    KEPT_FOR = "kept_for", "job", "needed", "start"
    IN_LINE = "in_line", "older"
    MAPPER_ASKED = "mapper_asked", "mapper"
    NOT_MEASURED = "not_measured", "cluster"
    AFTER_JOBS = "after_jobs", "waits_for", "more"  # waits_for: {"job", "state", "has_to_succeed"} of each
    BUDGET_WAITS = "budget_waits", "project", "allocated", "ends"  # node-hours of which nothing is left
    BUSY_IN_QUEUE = "busy_in_queue", "cluster", "start"

    # what becomes of it before it runs
    ACCEPTED = "accepted"
    AFTER_JOBS_OVER = "after_jobs_over"
    AFTER_NEVER = "after_never", "job", "state"
    BUDGET_GOES_ON = "budget_goes_on", "project"
    MEASURING = "measuring"
    BEING_STARTED = "being_started"
    FREE_NOW = "free_now"
    WORKER_SILENT = "worker_silent", "since", "until", "gives_up"  # gives_up: nobody takes over
    WORKER_LOST = "worker_lost"
    WORKER_LOST_PLACING = "worker_lost_placing", "times"
    IMPOSSIBLE = "impossible", "error"
    CHOSEN = "chosen", "nodes", "method", "why"
    CLUSTER_SILENT = "cluster_silent", "cluster", "error"
    GRID_SILENT = "grid_silent", "error"
    NO_ROOM = "no_room", "error"
    NO_DIRECTORY = "no_directory", "error"
    NOT_STARTED = "not_started", "error"
    LATER = "later", "error"

    # in the queue of its cluster; `restarted`: why its last attempt ended
    QUEUED_THERE = "queued_there", "cluster", "restarted", "why", "start", "another_day"
    IN_QUEUE_AGAIN = "in_queue_again"
    SLURM_WAITS = "slurm_waits", "state", "slurm_reason"
    BEHIND_JOBS = "behind_jobs", "nodes", "jobs"
    RECALLED = "taken_back", "cluster", "closed"
    PLACED_ANEW = "placed_anew", "nodes", "closed"
    SUBMITTED_AGAIN = "submitted_again"
    RUN_STEP = "run_step", "run", "before", "now"
    HELD_BY = "held_by", "person"
    RELEASED_BY = "released_by", "person"
    REQUEUED_BY = "requeued_by", "person"

    # while it is moved
    ASKED_TO_STOP = "asked_to_stop", "person", "nodes", "ranks", "text"
    ASKED_TO_GO_ON = "asked_to_go_on", "person", "nodes", "ranks", "text"
    STOPPED_AS_ASKED = "stopped_as_asked", "checkpoint"
    STOPPED_BY_ITSELF = "stopped_by_itself", "checkpoint"
    LEFT_AS_ASKED = "left_as_asked", "file"
    LEFT_BY_ITSELF = "left_by_itself", "file"
    LEFT_NOTHING = "left_nothing", "pattern"
    GOES_ON_FROM_FILE = "goes_on_from_file", "file", "nodes", "ranks"
    WAITS_WITH_FILE = "waits_with_file", "file"
    WAITS_FOR_PERSON = "waits_for_person", "checkpoint"
    FAILED_WITH = "failed_with", "checkpoint", "file", "why"
    GOES_ON_FROM = "goes_on_from", "checkpoint", "nodes", "ranks"
    GOES_BACK = "goes_back", "why"
    MOVED = "moved", "nodes", "ranks", "seconds"
    STARTED_ANEW = "started_anew", "nodes", "ranks"
    STARTED_WITHOUT = "started_without", "checkpoint", "nodes", "ranks"
    MOVE_REFUSED = "move_refused", "why"
    CONTINUE_REFUSED = "continue_refused", "why"
    HOURS_DENIED = "hours_denied"
    MOVE_WAITED_TOO_LONG = "move_waited_too_long", "seconds"
    NOBODY_DECIDED = "nobody_decided"
    RUN_IS_OVER = "run_is_over"
    NOT_STOPPED = "not_stopped", "text"
    STOPS_TOO_SLOWLY = "stops_too_slowly", "seconds"
    PUT_BACK_MEANWHILE = "put_back_meanwhile"
    ENDED_MEANWHILE = "ended_meanwhile"
    NO_CHECKPOINT = "no_checkpoint", "checkpoint"
    MOVE_LOST = "move_lost", "times"
    MOVE_RECORD_GONE = "move_record_gone"
    WEIGHING_LOST = "weighing_lost", "times"
    WEIGHING_FAILED = "weighing_failed", "stage", "why"
    SHARD_MISSING = "shard_missing", "file"
    SHARD_CHANGED = "shard_changed", "file", "has", "size"
    SHARD_UNNAMED = "shard_unnamed", "file"
    SHARDS_GONE = "shards_gone", "nodes"

    # while it runs, and how it ended
    CLUSTER_AWAY = "cluster_away", "cluster", "error"
    GRID_AWAY = "grid_away", "error"
    CONTRACT_BROKEN = "contract_broken", "phase", "promised", "seconds", "average"
    CONTRACT_OVERDUE = "contract_overdue", "phase", "promised", "seconds", "average"
    CANCELLED_BY = "cancelled_by", "person"
    CANCELLED_EARLY = "cancelled_early", "person"
    CANCELLED_RUNNING = "cancelled_running", "person"
    CANCELLED_THERE = "cancelled_there"
    VERIFIED = "verified"
    UNREADABLE = "unreadable", "fault"
    OUTPUT_SAYS_FAILURE = "output_says_failure", "pattern", "line"
    OUTPUT_LACKS_SUCCESS = "output_lacks_success", "pattern", "log", "wrote"
    OUTPUT_TOO_SLOW = "output_too_slow", "pattern", "seconds"
    ABORTED = "aborted", "line"
    NO_PROGRAM = "no_program", "program", "error", "nodes"
    ENDED = "ended", "exit_code", "verified", "why", "fault", "log", "wrote"
    FORGOTTEN_THERE = "forgotten_there", "fault"
    GRID_RESTARTED = "grid_restarted", "fault"

    # what backends say of a run
    NODES_PREPARED = "nodes_prepared"
    NODES_POWERED_UP = "nodes_powered_up"
    REQUEUED = "requeued"
    REQUEUED_ELSEWHERE = "requeued_elsewhere"
    REQUEUED_AND_HELD = "requeued_and_held"
    SPECIAL_EXIT = "special_exit"
    RESERVATION_DELETED = "reservation_deleted"
    CLEANING_UP = "cleaning_up"
    SUSPENDED = "suspended"
    STOPPED_BY_SIGNAL = "stopped_by_signal"
    RESIZING = "resizing"
    COPYING_OUT = "copying_out"
    EXPEDITED = "expedited"
    JOB_CANCELLED = "job_cancelled"
    STOPPED_THERE = "stopped_there"
    TIMED_OUT = "timed_out"
    OVER_TIME_LIMIT = "over_time_limit", "limit"
    NODE_FAILED = "node_failed"
    NODE_NOT_BOOTED = "node_not_booted"
    NOT_LAUNCHED = "not_launched"
    NODE_NOT_RECONFIGURED = "node_not_reconfigured"
    OUT_OF_MEMORY = "out_of_memory"
    PREEMPTED = "preempted"
    NODES_PREEMPTED = "nodes_preempted"
    PUT_BACK = "put_back"
    DEADLINE = "deadline"
    REVOKED = "revoked"
    GRID_ENDED = "grid_ended"
    WATCHER_ENDED = "watcher_ended"
    UNKNOWN_STATE = "unknown_state", "states"

    # what a trace cannot show; `ranks`: how many, `calls`: names
    TRACE_NO_CALLS = "trace_no_calls"
    BOUND_BY_LATENCY = "bound_by_latency", "share", "rate", "size"
    TRACE_CUT_SHORT = "trace_cut_short", "ranks"
    TRACE_UNORDERED = "trace_unordered", "ranks"
    TRACE_THREADS = "trace_threads", "ranks", "threads"
    TRACE_PARTITIONS = "trace_partitions"
    TRACE_SHARED_WINDOWS = "trace_shared_windows"
    TRACE_OTHER_WORLDS = "trace_other_worlds", "calls"
    TRACE_HELPERS = "trace_helpers", "seconds"
    TRACE_GPU = "trace_gpu", "library"
    TRACE_STAND_INS = "trace_stand_ins", "calls"
    TRACE_NO_FILES = "trace_no_files", "seconds"

    # why a job that was to be traced left no profile
    TRACE_NO_MPI = "trace_no_mpi"
    TRACE_NOT_SEEN = "trace_not_seen"  # the same of a program that ended with 0
    TRACE_INSIDE = "trace_inside", "inside"  # what its program starts ranks with by itself
    TRACE_COPIES = "trace_copies", "copies", "ranks"
    TRACE_OTHER_RANKS = "trace_other_ranks", "found", "ranks"
    TRACE_INCOMPLETE = "trace_incomplete", "found", "ranks"
    TRACE_UNREADABLE = "trace_unreadable", "error"
    TRACE_NO_LIBRARY = "trace_no_library"
    TRACE_SEVERAL = "trace_several", "runs"

    # how the ranks of a run were started, where that was odd; `launcher` and `mpi` for people
    START_SINGLETONS = "start_singletons", "ranks", "mpi", "launcher"
    START_COPIES = "start_copies", "ranks", "found", "launcher"
    START_FEWER = "start_fewer", "ranks", "found", "runs", "launcher"  # of MPI; `found`: ranks of all its runs
    START_NO_MPI = "start_no_mpi", "ranks"
    START_OTHER_MPI = "start_other_mpi", "ranks", "mpi", "launcher"
    START_INSIDE = "start_inside", "ranks", "inside", "launcher"
    START_NO_PMI = "start_no_pmi", "mpi", "launcher"
    START_NONE = "start_none", "launcher"
    START_NOT_SEEN = "start_not_seen", "since", "inside"  # while it runs; `inside`: what its script calls itself
    # the same of a program that somebody brings, before it has run
    LINKED_OTHERWISE = "linked_otherwise", "mpi", "launcher"
    DEBIANS_MPICH = "debians_mpich", "launcher"
    STARTS_RANKS_ITSELF = "starts_ranks_itself", "launcher", "is_own"  # brought by a person, not registered
    PROGRAM_NOT_SEEN = "program_not_seen", "program", "clusters"
    PROGRAM_NOT_SHARED = "program_not_shared", "program", "folder", "clusters"
    PROGRAM_NOT_EXECUTABLE = "program_not_executable", "program"
    NEVER_TRIED = "never_tried", "runs", "is_own"  # all runs that it had

    # why there is no skeleton, or why it tells little; `share` of the time outside MPI
    PROGRAM_WAITS = "program_waits", "share"
    SKELETON_NOT_BUILT = "skeleton_not_built", "error"
    SKELETON_BUILD_FAILED = "skeleton_build_failed", "error"

    # who plays a skeleton
    PLAYED_IN_C = "played_in_c", "mpi"
    PLAYED_IN_PYTHON = "played_in_python"
    PLAYED_BY_PORTAL = "played_by_portal", "error"

    # trying candidate groups by a skeleton
    TRIAL_RUNNING = "trying", "groups", "over"
    TRIAL_AWAITS = "trial_awaits", "groups", "until"
    TRIAL_SILENT = "trial_silent", "error"
    TRIAL_LOST = "trial_lost"
    TRIAL_PLANNED = "trial_ahead", "groups", "budget"
    TRIAL_TOO_SHORT = "trial_too_short", "needed", "budget", "application", "ahead"
    TRIAL_ONE_GROUP = "trial_one_group", "ahead"
    NO_SKELETON = "no_skeleton", "ranks"
    SKELETON_IMPOSSIBLE = "skeleton_impossible", "ranks", "why"
    TRIED = "tried", "nodes", "by", "groups", "ended", "compared", "spent", "budget", "predicted", "selection", "why"
    GROUP_TAKEN = "group_taken", "nodes", "person", "why"

    # why a skeleton did not run to its end on a group
    TRIAL_TIME = "trial_time", "allowed"
    JOB_OVER = "job_over"
    SLOWER_ALREADY = "slower_already"
    TAKES_AT_LEAST = "takes_at_least", "seconds"
    TO_BE_EXPECTED = "to_be_expected", "seconds"
    ANOTHER_TAKEN = "another_taken"
    TRIAL_WORKER_LOST = "trial_worker_lost"
    TAKEN_EARLY = "taken_early", "person"
    NODES_NOT_FREE = "nodes_not_free"
    SKELETON_FORGOTTEN = "skeleton_forgotten"
    SKELETON_REFUSED = "skeleton_refused", "error"
    SKELETON_ENDED = "skeleton_ended", "exit_code", "why", "log"

    # why a tried group was taken or left
    PREDICTED = "predicted", "seconds", "more"
    NOT_PREDICTED = "not_predicted", "state", "why"
    TAKEN_ANYHOW = "taken_anyhow", "person", "why"

    # why the selection took a group or left it; `group`: {"pair": [a, b], "bandwidth", "cpu", "is_linked"}
    DRAWN = "drawn", "seed", "group"
    DRAWN_LATER = "drawn_later", "group"
    NODES_NAMED = "nodes_named", "person"
    NOT_PROVED = "not_proved", "budget", "group"
    NEAR_BOUND = "near_bound", "gap", "group"
    MOST_CPU = "most_cpu", "nodes", "cpu"
    MOST_BALANCED = "most_balanced", "nodes", "flows", "balance", "group"
    LEAST_MESSAGE_TIME = "least_message_time", "slack", "group"
    FASTEST = "fastest", "nodes", "flows", "group"
    UNJOINED = "unjoined", "why", "pair"
    EQUALS_DECIDED = "equals_decided", "why", "by"
    FIRST_FREE = "first_free", "why"
    AMONG_MATCHED = "among_matched", "is_set", "is_exact", "by_request"
    BEST_OF_MATCHED = "best_of_matched", "among", "why"
    ONE_MACHINE = "one_machine"
    MORE_MESSAGE_TIME = "more_message_time", "more", "group"
    AS_GOOD = "as_good", "group"
    INSIDE_NODES = "inside_nodes", "nodes", "cpu"
    TAKES_LINKS = "takes_links", "group"
    MORE_BETWEEN_NODES = "more_between_nodes", "more", "group"
    LESS_BALANCED = "less_balanced", "less", "balance", "group"
    LESS_CPU = "less_cpu", "cpu", "less"
    SLOWER_PAIR = "slower_pair", "less", "is_scatter", "group"
    SLOWER_AT_EQUAL_SHARE = "slower_at_equal_share", "less", "group"
    SLOWER_AT_EQUAL_CPU = "slower_at_equal_cpu", "less", "group"
    LOWER_MEAN = "lower_mean", "mean", "less", "group"
    LOWER_MEAN_CPU = "lower_mean_cpu", "cpu", "best", "group"
    LOWER_CPU = "lower_cpu", "cpu", "best", "is_faster", "group"

    # why a compute node was not taken; `place_of`: the chosen node whose place would suit it best
    NODE_EXCLUDED = "node_excluded"
    NODE_BUSY = "node_busy", "job"
    NODE_CLOSED = "node_closed", "error"
    NODE_LACKS = "node_lacks", "condition", "label", "has"
    NODE_LACKS_OPTION = "node_lacks_option", "option", "needed", "has"
    NODE_LACKS_NOTHING = "node_lacks_nothing", "room", "ranks"
    NODE_LOW_CPU = "node_low_cpu", "cpu", "min_cpu"
    NODE_APART = "node_apart", "place_of", "pair"
    NODE_SLOWER = "node_slower", "place_of", "pair", "bandwidth", "best"
    NODE_TOO_SMALL = "node_too_small", "slots", "needed"
    NODE_NOT_FOR_ITS_RANKS = "node_not_for_its_ranks"
    NODE_NOT_PINNED = "node_not_pinned", "nodes"
    NODE_SLOWER_AT_ONCE = "node_slower_at_once", "place_of", "bandwidth", "best"
    NODE_BELOW = "node_below", "place_of", "pair", "bandwidth", "min_bandwidth"
    NODE_LESS_CPU = "node_less_cpu", "place_of", "cpu", "best"
    NODE_LESS_BALANCED = "node_less_balanced", "place_of", "score", "best"
    NODE_LESS_CPU_AT_EQUALS = "node_less_cpu_at_equals", "place_of", "cpu", "best"
    NODE_SLOWER_AT_EQUALS = "node_slower_at_equals", "place_of", "bandwidth", "best"
    NODE_TOO_FAR = "node_too_far", "place_of", "pair", "condition"
    NODE_BELOW_SLACK = "node_below_slack", "place_of", "pair", "bandwidth", "level"
    NODE_MORE_MESSAGE_TIME = "node_more_message_time", "place_of", "more", "is_busiest"
    NODE_AS_GOOD = "node_as_good", "place_of"
    NODE_NOT_WEIGHED = "node_not_weighed", "place_of"
    NODE_PASSED_OVER = "node_passed_over", "place_of"
    NODE_NOT_DRAWN = "node_not_drawn"
    NODE_NOT_NAMED = "node_not_named", "person"
    NODE_NOT_REQUESTED = "node_not_requested"
    NODE_KEPT_BY_AD = "node_kept_by_ad"
    NODE_NOT_MATCHED = "node_not_matched"
    NODE_NOT_IN_SET = "node_not_in_set"

    # what is not used of the answer of a mapper, or of the request
    MAPPER_FAILED = "mapper_failed", "mapper", "error"
    MAPPER_ZERO_SHARES = "mapper_zero_shares", "mapper", "nodes"
    LATENCY_UNKNOWN = "latency_unknown", "condition"

    # what an alert found; `lasted`: seconds beyond the level before it fired; `others`: how many more did at once
    ALERT_FIRES = "alert_fires", "subject", "metric", "value", "level", "above", "lasted", "others"
    ALERT_ENDS = "alert_ends", "subject", "metric", "value", "others"
    ALERT_GONE = "alert_gone", "subject", "metric"

    # how far the budget of a project is used; node-hours
    BUDGET_LOW = "budget_low", "project", "used", "allocated", "ends"
    BUDGET_USED_UP = "budget_used_up", "project", "used", "allocated", "ends", "refuses"
    BUDGET_USED_UP_WAITS = "budget_used_up_waits", "project", "used", "allocated", "ends"

    # how a job ended that was read from a log of another system
    LOG_FAILED = "log_failed", "line"
    LOG_CANCELLED = "log_cancelled", "line"

    # what a plug-in said that predicts how long a program runs
    MODEL_FAILED = "model_failed", "model", "error"

    # of what time a report is that is sent at set times; ISO
    REPORT_OF = "report_of", "begin", "until"

    # why an experiment ended; `error`: the last line that its process wrote
    EXPERIMENT_CUT_SHORT = "experiment_cut_short"
    EXPERIMENT_NOT_STARTED = "experiment_not_started", "error"
    EXPERIMENT_FAILED = "experiment_failed", "exit_code", "error"
