"""The trace of an MPI program: one JSON document of what every rank called, loops folded.

Source: Pattern 2003, 2.1 and 2.2: the size and pattern of the messages are found by watching the program run on a
controlled test bed. The library in gridportal/runtime/trace records it.

    TRACE   {"version": 1, "program": str, "ranks": N, "mpi": str, "wall": s, "hosts": [host of rank 0, 1, ...],
             "comms": {"0": [0, 1, ... N-1], ID: [world rank of its rank 0, 1, ...]}, "inter": [ID],
             "processes": [PROCESS of rank 0, 1, ...]}
    PROCESS {"rank": r, "wall": s, "body": [NODE], "tail": COMPUTE, "polls": n, "complete": bool, "ordered": bool,
             "helped": s, "ready": s, "children": s, "pace": units/s, "touched": TOUCHED, "gpu": str,
             "threads": [calls of each, where several called]}
    TOUCHED {"n": gaps that were looked at, "bytes": mean, "cpu": mean s, "region": bytes, the mean by their cpu s}
    NODE    {"loop": count >= 1, "body": [NODE], "rounds": [number of a round, from 0]}  or  CALL
    CALL    {"call": "MPI_Send", "comm": ID, "compute": COMPUTE, "seconds": {"n", "mean"}, ...}
    COMPUTE {"n": times, "mean": s, "var": s², "cpu": s, "rounds": [s]}; n: how often the call ran in all, exact also
            where the count of a loop is the rounded mean of several

A loop that stands in no other has the numbers of some rounds in "rounds", rising, and each call in it, also in an inner
loop, the mean of its cpu seconds in each of these, in their order, unless that was next to nothing. The recording
library keeps up to eight blocks of eight rounds, spread over the run; which they are follows from how often the loop
ran. Traces of before have none.

What is left out is null, 0 or empty. A call has its classic name, also when the program used the large-count `_c` or
the Fortran one. Sizes are bytes, a mean (not always whole) where executions that were folded differ by a little. Ranks
are those of MPI_COMM_WORLD. "0" is MPI_COMM_WORLD; communicators of the same ranks that live at the same time have
different IDs, a freed one's ID is used again by the next with the same ranks. IDs in "inter" are intercommunicators
and list the remote group. The fields of a CALL by kind:

    tags       are left out on a communicator where they only count up (mpi4py's pickled reductions): all messages on it
               match in their order, as if they all had one tag
    send       peer (null: MPI_PROC_NULL), tag, bytes; also MPI_Send_init
    receive    source (a rank, "any", or null: MPI_PROC_NULL), tag ("any" possible), recv_bytes = room of the buffer;
               also MPI_Recv_init, MPI_Probe, MPI_Mprobe, MPI_Mrecv
    sendrecv   peer, tag, bytes; source, recv_tag, recv_bytes
    requests   a call that makes a request has `request`, its slot: the smallest number that is free on this rank, from
               0. MPI_Wait..., MPI_Test..., MPI_Start..., MPI_Request_free, MPI_Cancel have `requests`, the slots that
               they completed, started, freed or cancelled, MPI_Request_get_status the one that it saw complete. A
               completed or freed slot is free again; a persistent request keeps its slot until MPI_Request_free, a
               cancelled one until it is waited for. MPI_Test..., MPI_Request_get_status and MPI_Iprobe stand in the
               trace only when they were successful; the others are counted in `polls`, and their waiting is in the
               `seconds` of the successful.
    collective bytes and, for rooted ones, root. Bcast, Reduce, Allreduce, Scan, Exscan: the size of the buffer. Gather,
               Allgather and their v kinds: what this rank puts in. Scatter, Scatterv: the block that this rank gets.
               Alltoall and its v, w kinds: what this rank sends to all, itself included. Reduce_scatter: the whole
               vector. Nonblocking ones (MPI_Ibcast, ...) and persistent ones (MPI_Bcast_init, ...) also have `request`.
    counts     bytes for each rank of the communicator. Alltoallv, Alltoallw: to each. Scatterv: to each, at the root
               only. Gatherv: from each, at the root only. Allgatherv, Reduce_scatter: the block of each.
    neighbours MPI_Neighbor_...: `peers`, the destinations, and `counts`, the bytes to each
    comms      newcomm, the ID that it made (null: MPI_COMM_NULL), for MPI_Comm_dup, split, create, MPI_Cart_create, ...
    one-sided  MPI_Put, MPI_Get, MPI_Accumulate, ...: peer, bytes; comm is that of the window. MPI_Win_post and
               MPI_Win_start: `peers`, the ranks of the group. MPI_Win_create, ...: newcomm, that of the window
    partitioned MPI_Psend_init, MPI_Precv_init: as the messages of all partitions; MPI_Pready, ... and a successful
               MPI_Parrived have `requests`
    files      MPI_File_...: comm is that with which the file was opened, bytes what is read or written

>>> document = {"version": 1, "ranks": 1, "comms": {"0": [0]}, "processes": [
...     {"rank": 0, "body": [{"loop": 3, "body": [{"call": "MPI_Barrier"}]}]}]}
>>> parse(document).calls
3
"""

from __future__ import annotations

from scheduling.profiles.core.trace_merge import merge
from scheduling.profiles.core.trace_nodes import (
    ANY,
    Call,
    Compute,
    Inside,
    Loop,
    Node,
    Process,
    Touched,
    Trace,
    communicating,
    computing,
    file_bytes,
    of_main_thread,
    on_file,
    steps,
    storing,
    unfolded,
    waiting,
    weighted,
)
from scheduling.profiles.core.trace_text import VERSION, dump, parse

__all__ = [
    "ANY",
    "VERSION",
    "Call",
    "Compute",
    "Inside",
    "Loop",
    "Node",
    "Process",
    "Touched",
    "Trace",
    "communicating",
    "computing",
    "dump",
    "file_bytes",
    "merge",
    "of_main_thread",
    "on_file",
    "parse",
    "steps",
    "storing",
    "unfolded",
    "waiting",
    "weighted",
]
