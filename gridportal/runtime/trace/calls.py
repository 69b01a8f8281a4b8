# ruff: noqa: E501
"""The MPI calls that the recording library wraps: arguments, and what is noted before and after each.

One call per line: names | arguments | before | after. Several names share their arguments. An argument is a kind (see
wrappers.KINDS) and a name; the notes are C over those names, with `e` the event and COUNTS_x, the function for counts
of the family's type. An `after` with `??` is: when this is true, that, else an unsuccessful poll; an empty one says that
nothing but the time counts. Lines under "collective" have a nonblocking and a persistent twin.
"""

from __future__ import annotations

POINT_TO_POINT = """
Send Bsend Ssend Rsend | in buf, n count, t type, i dest, i tag, c comm | | sends(e, comm, dest, tag, count, type)
Isend Ibsend Issend Irsend | in buf, n count, t type, i dest, i tag, c comm, r request | | sends(e, comm, dest, tag, count, type); makes_request(e, *request, 0)
Send_init Bsend_init Ssend_init Rsend_init | in buf, n count, t type, i dest, i tag, c comm, r request | | sends(e, comm, dest, tag, count, type); makes_request(e, *request, 1)
Recv | out buf, n count, t type, i source, i tag, c comm, st status | | receives(e, comm, source, tag, count, type)
Irecv | out buf, n count, t type, i source, i tag, c comm, r request | | receives(e, comm, source, tag, count, type); makes_request(e, *request, 0)
Recv_init | out buf, n count, t type, i source, i tag, c comm, r request | | receives(e, comm, source, tag, count, type); makes_request(e, *request, 1)
Sendrecv | in buf, n count, t type, i dest, i tag, out into, n room, t rtype, i source, i rtag, c comm, st status | | sends(e, comm, dest, tag, count, type); receives(e, comm, source, rtag, room, rtype)
Sendrecv_replace | out buf, n count, t type, i dest, i tag, i source, i rtag, c comm, st status | | sends(e, comm, dest, tag, count, type); receives(e, comm, source, rtag, count, type)
Probe | i source, i tag, c comm, st status | | probes(e, comm, source, tag)
Iprobe | i source, i tag, c comm, fl flag, st status | | *flag ?? probes(e, comm, source, tag)
Mprobe | i source, i tag, c comm, ms message, st status | | probes(e, comm, source, tag)
Improbe | i source, i tag, c comm, fl flag, ms message, st status | | *flag ?? probes(e, comm, source, tag)
Mrecv | out buf, n count, t type, ms message, st status | | matched(e, count, type)
Imrecv | out buf, n count, t type, ms message, r request | | matched(e, count, type); makes_request(e, *request, 0)
"""

#: Since MPI 4.
POINT_TO_POINT_4 = """
Isendrecv | in buf, n count, t type, i dest, i tag, out into, n room, t rtype, i source, i rtag, c comm, r request | | sends(e, comm, dest, tag, count, type); receives(e, comm, source, rtag, room, rtype); makes_request(e, *request, 0)
Isendrecv_replace | out buf, n count, t type, i dest, i tag, i source, i rtag, c comm, r request | | sends(e, comm, dest, tag, count, type); receives(e, comm, source, rtag, count, type); makes_request(e, *request, 0)
"""

#: Since MPI 4; a message of all its partitions, whose sizes are whole numbers of MPI_Count in any case.
PARTITIONED = """
Psend_init | in buf, i partitions, N count, t type, i dest, i tag, c comm, in_ info, r request | | sends(e, comm, dest, tag, partitions * count, type); makes_request(e, *request, 1)
Precv_init | out buf, i partitions, N count, t type, i source, i tag, c comm, in_ info, r request | | receives(e, comm, source, tag, partitions * count, type); makes_request(e, *request, 1)
Pready | i partition, rv request | remember(e, 1, &request) | named(e)
Pready_range | i low, i high, rv request | remember(e, 1, &request) | named(e)
Pready_list | i length, pl partitions, rv request | remember(e, 1, &request) | named(e)
Parrived | rv request, i partition, fl flag | remember(e, 1, &request) | *flag ?? named(e)
"""

REQUESTS = """
Wait | r request, st status | remember(e, 1, request) | completed_one(e, 0)
Waitall | i count, rs requests, st statuses | remember(e, count, requests) | completed_all(e, count)
Waitany | i count, rs requests, ix index, st status | remember(e, count, requests) | completed_one(e, *index == MPI_UNDEFINED ? -1 : *index)
Waitsome | i count, rs requests, ix done, ixs indices, st statuses | remember(e, count, requests) | completed_some(e, *done, indices)
Test | r request, fl flag, st status | remember(e, 1, request) | *flag && any_active(e, 1) ?? completed_one(e, 0)
Testall | i count, rs requests, fl flag, st statuses | remember(e, count, requests) | *flag && any_active(e, count) ?? completed_all(e, count)
Testany | i count, rs requests, ix index, fl flag, st status | remember(e, count, requests) | *flag && *index != MPI_UNDEFINED ?? completed_one(e, *index)
Testsome | i count, rs requests, ix done, ixs indices, st statuses | remember(e, count, requests) | *done != MPI_UNDEFINED && *done > 0 ?? completed_some(e, *done, indices)
Start | r request | | started(e, 1, request)
Startall | i count, rs requests | | started(e, count, requests)
Request_free | r request | remember(e, 1, request) | freed(e)
Cancel | r request | remember(e, 1, request) | named(e)
Request_get_status | rv request, fl flag, st status | remember(e, 1, &request) | *flag ?? named(e)
"""

COLLECTIVE = """
Barrier | c comm | | collective(e, comm, 0, MPI_DATATYPE_NULL)
Bcast | out buf, n count, t type, i root, c comm | | rooted(e, comm, root, count, type)
Reduce | in buf, out into, n count, t type, op op, i root, c comm | | rooted(e, comm, root, count, type)
Allreduce Scan Exscan | in buf, out into, n count, t type, op op, c comm | | collective(e, comm, count, type)
Gather | in buf, n count, t type, out into, n room, t rtype, i root, c comm | | rooted(e, comm, root, buf == MPI_IN_PLACE || root == MPI_ROOT ? 0 : count, type); if (buf == MPI_IN_PLACE) own_block(e, into, room, rtype)
Gatherv | in buf, n count, t type, out into, ns counts, ds displacements, t rtype, i root, c comm | | rooted(e, comm, root, buf == MPI_IN_PLACE || root == MPI_ROOT ? 0 : count, type); if (is_root(comm, root)) { double own = e->bytes; COUNTS(e, counts, rtype, NULL); if (buf == MPI_IN_PLACE) block_sum(e, comm); else e->bytes = own; }
Scatter | in buf, n count, t type, out into, n room, t rtype, i root, c comm | | rooted(e, comm, root, into == MPI_IN_PLACE || root == MPI_ROOT ? 0 : room, rtype); if (into == MPI_IN_PLACE) own_block(e, buf, count, type)
Scatterv | in buf, ns counts, ds displacements, t type, out into, n room, t rtype, i root, c comm | | rooted(e, comm, root, into == MPI_IN_PLACE || root == MPI_ROOT ? 0 : room, rtype); if (is_root(comm, root)) { double own = e->bytes; COUNTS(e, counts, type, NULL); if (into == MPI_IN_PLACE) block_sum(e, comm); else e->bytes = own; }
Allgather | in buf, n count, t type, out into, n room, t rtype, c comm | | collective(e, comm, room, rtype); own_block(e, buf, count, type)
Allgatherv | in buf, n count, t type, out into, ns counts, ds displacements, t rtype, c comm | | collective(e, comm, 0, rtype); COUNTS(e, counts, rtype, NULL); block_sum(e, comm)
Alltoall | in buf, n count, t type, out into, n room, t rtype, c comm | | collective(e, comm, 0, rtype); to_all(e, buf, count, type, room, rtype)
Alltoallv | in buf, ns counts, ds displacements, t type, out into, ns rooms, ds rdispls, t rtype, c comm | | collective(e, comm, 0, rtype); COUNTS(e, buf == MPI_IN_PLACE ? rooms : counts, buf == MPI_IN_PLACE ? rtype : type, NULL)
Alltoallw | in buf, ns counts, ds displacements, ts types, out into, ns rooms, ds rdispls, ts rtypes, c comm | | collective(e, comm, 0, MPI_DATATYPE_NULL); COUNTS(e, buf == MPI_IN_PLACE ? rooms : counts, MPI_DATATYPE_NULL, buf == MPI_IN_PLACE ? rtypes : types)
Reduce_scatter | in buf, out into, ns counts, t type, op op, c comm | | collective(e, comm, 0, type); COUNTS(e, counts, type, NULL)
Reduce_scatter_block | in buf, out into, n count, t type, op op, c comm | | collective(e, comm, 0, type); to_all(e, NULL, count, type, 0, type)
Neighbor_allgather | in buf, n count, t type, out into, n room, t rtype, c comm | | neighbours(e, comm, count, type)
Neighbor_allgatherv | in buf, n count, t type, out into, ns counts, ds displacements, t rtype, c comm | | neighbours(e, comm, count, type)
Neighbor_alltoall | in buf, n count, t type, out into, n room, t rtype, c comm | | neighbours(e, comm, count, type)
Neighbor_alltoallv | in buf, ns counts, ds displacements, t type, out into, ns rooms, ds rdispls, t rtype, c comm | | NEIGHBOURS(e, comm, counts, type, NULL)
Neighbor_alltoallw | in buf, ns counts, as displacements, ts types, out into, ns rooms, as rdispls, ts rtypes, c comm | | NEIGHBOURS(e, comm, counts, MPI_DATATYPE_NULL, types)
"""

ONE_SIDED = """
Put Get | in0 buf, n count, t type, i target, a disp, n room, t rtype, w win | | one_sided(e, win, target, count, type)
Accumulate | in buf, n count, t type, i target, a disp, n room, t rtype, op op, w win | | one_sided(e, win, target, count, type)
Get_accumulate | in buf, n count, t type, out into, n got, t gtype, i target, a disp, n room, t rtype, op op, w win | | one_sided(e, win, target, got, gtype)
Rput Rget | in0 buf, n count, t type, i target, a disp, n room, t rtype, w win, r request | | one_sided(e, win, target, count, type); makes_request(e, *request, 0)
Raccumulate | in buf, n count, t type, i target, a disp, n room, t rtype, op op, w win, r request | | one_sided(e, win, target, count, type); makes_request(e, *request, 0)
Rget_accumulate | in buf, n count, t type, out into, n got, t gtype, i target, a disp, n room, t rtype, op op, w win, r request | | one_sided(e, win, target, got, gtype); makes_request(e, *request, 0)
"""

#: On files; `offset` where they say where. With a twin that only begins.
FILES = """
File_read File_read_all | f file, out buf, n count, t type, st status | | file_bytes(e, file, count, type)
File_write File_write_all | f file, in buf, n count, t type, st status | | file_bytes(e, file, count, type)
File_read_at File_read_at_all | f file, o offset, out buf, n count, t type, st status | | file_bytes(e, file, count, type)
File_write_at File_write_at_all | f file, o offset, in buf, n count, t type, st status | | file_bytes(e, file, count, type)
File_read_shared | f file, out buf, n count, t type, st status | | file_bytes(e, file, count, type)
File_write_shared | f file, in buf, n count, t type, st status | | file_bytes(e, file, count, type)
"""

#: What has no such twin: split collectives are counted where they begin.
FILES_BLOCKING = """
File_read_ordered | f file, out buf, n count, t type, st status | | file_bytes(e, file, count, type)
File_write_ordered | f file, in buf, n count, t type, st status | | file_bytes(e, file, count, type)
File_read_all_begin File_read_ordered_begin | f file, out buf, n count, t type | | file_bytes(e, file, count, type)
File_write_all_begin File_write_ordered_begin | f file, in buf, n count, t type | | file_bytes(e, file, count, type)
File_read_at_all_begin | f file, o offset, out buf, n count, t type | | file_bytes(e, file, count, type)
File_write_at_all_begin | f file, o offset, in buf, n count, t type | | file_bytes(e, file, count, type)
"""

#: Windows; the large-count family has a larger unit.
WINDOWS = """
Win_create | out base, a size, du unit, in_ info, c comm, wo win | | makes_window(e, comm, *win)
Win_allocate Win_allocate_shared | a size, du unit, in_ info, c comm, out base, wo win | | makes_window(e, comm, *win)
"""

#: What waits until messages of MPI_Bsend have left; the large-count family has a larger size.
BUFFERS = """
Buffer_detach | out buffer, np size | |
"""

#: The same in all versions: no counts, or whole numbers only.
OTHERS = """
Fetch_and_op | in buf, out into, t type, i target, a disp, op op, w win | | one_sided(e, win, target, 1, type)
Compare_and_swap | in buf, in compare, out into, t type, i target, a disp, w win | | one_sided(e, win, target, 1, type)
Win_fence | i assert, w win | | one_sided(e, win, MPI_PROC_NULL, 0, MPI_DATATYPE_NULL)
Win_lock | i kind, i target, i assert, w win | | one_sided(e, win, target, 0, MPI_DATATYPE_NULL)
Win_unlock Win_flush Win_flush_local | i target, w win | | one_sided(e, win, target, 0, MPI_DATATYPE_NULL)
Win_lock_all | i assert, w win | | one_sided(e, win, MPI_PROC_NULL, 0, MPI_DATATYPE_NULL)
Win_unlock_all Win_flush_all Win_flush_local_all Win_complete Win_wait Win_sync | w win | | one_sided(e, win, MPI_PROC_NULL, 0, MPI_DATATYPE_NULL)
Win_test | w win, fl flag | | *flag ?? one_sided(e, win, MPI_PROC_NULL, 0, MPI_DATATYPE_NULL)
Win_post Win_start | gr group, i assert, w win | | with_group(e, win, group)
Win_create_dynamic | in_ info, c comm, wo win | | makes_window(e, comm, *win)
Win_free | wo win | int id = frees_window(e, *win) | e->comm = id
Comm_dup | c comm, co made | | makes_comm(e, comm, *made)
Comm_dup_with_info | c comm, in_ info, co made | | makes_comm(e, comm, *made)
Comm_idup | c comm, co made, r request | | collective(e, comm, 0, MPI_DATATYPE_NULL); makes_request(e, *request, 0)
Comm_split | c comm, i color, i key, co made | | makes_comm(e, comm, *made)
Comm_split_type | c comm, i kind, i key, in_ info, co made | | makes_comm(e, comm, *made)
Comm_create | c comm, gr group, co made | | makes_comm(e, comm, *made)
Comm_create_group | c comm, gr group, i tag, co made | | makes_comm(e, comm, *made)
Cart_create | c comm, i axes, is dims, is periods, i reorder, co made | | makes_comm(e, comm, *made)
Cart_sub | c comm, is remain, co made | | makes_comm(e, comm, *made)
Graph_create | c comm, i nodes, is index, is edges, i reorder, co made | | makes_comm(e, comm, *made)
Dist_graph_create | c comm, i n, is sources, is degrees, is dests, is weights, in_ info, i reorder, co made | | makes_comm(e, comm, *made)
Dist_graph_create_adjacent | c comm, i n, is sources, is sw, i m, is dests, is dw, in_ info, i reorder, co made | | makes_comm(e, comm, *made)
Intercomm_create | c local, i leader, c peer, i remote, i tag, co made | | makes_comm(e, local, *made)
Intercomm_merge | c comm, i high, co made | | makes_comm(e, comm, *made)
Comm_spawn | s command, sv argv, i most, in_ info, i root, c comm, co made, ix codes | | makes_comm(e, comm, *made)
Comm_spawn_multiple | i count, sv commands, svs argvs, is most, infos info, i root, c comm, co made, ix codes | | makes_comm(e, comm, *made)
Comm_join | i socket, co made | | e->newcomm = e->failed ? NOTHING : comm_id(*made)
Comm_accept Comm_connect | s port, in_ info, i root, c comm, co made | | makes_comm(e, comm, *made)
File_open | c comm, s name, i mode, in_ info, fo file | | makes_file(e, comm, *file)
File_close | fo file | int id = closes_file(e, *file) | e->comm = id
File_sync | f file | | file_bytes(e, file, 0, MPI_DATATYPE_NULL)
File_set_size File_preallocate | f file, o size | | file_bytes(e, file, 0, MPI_DATATYPE_NULL)
File_set_view | f file, o disp, t etype, t filetype, s kind, in_ info | | file_bytes(e, file, 0, MPI_DATATYPE_NULL)
File_read_all_end File_read_ordered_end File_read_at_all_end | f file, out buf, st status | | file_bytes(e, file, 0, MPI_DATATYPE_NULL)
File_write_all_end File_write_ordered_end File_write_at_all_end | f file, in buf, st status | | file_bytes(e, file, 0, MPI_DATATYPE_NULL)
Comm_free Comm_disconnect | co comm | int id = frees_comm(e, *comm) | e->comm = id
"""

#: Since MPI 4.
OTHERS_4 = """
Comm_create_from_group | gr group, s tag, in_ info, eh handler, co made | | makes_comm(e, *made, *made)
Intercomm_create_from_groups | gr local, i leader, gr remote, i other, s tag, in_ info, eh handler, co made | | makes_comm(e, *made, *made)
Comm_idup_with_info | c comm, in_ info, co made, r request | | collective(e, comm, 0, MPI_DATATYPE_NULL); makes_request(e, *request, 0)
"""
