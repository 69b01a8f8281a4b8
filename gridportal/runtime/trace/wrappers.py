"""Writes wrappers.c of the recording library from the table in calls.py.

Each call gets a classic wrapper and, where it has counts, a large-count one (`_c`, MPI 4; mpi4py 4 calls these). Each
stands in for both names of the call, MPI_Send and PMPI_Send: Open MPI's Fortran, and MPICH's mpi_f08 for calls without
a buffer, go to the second past the first. The library's own function is the next one in the loader's order. What a
wrapped call calls in its turn is not counted again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gridportal.runtime.trace import calls

#: Argument kind: type in C, type in C of the large-count family; `{}` is the name.
KINDS = {
    "in": ("const void *{}", "const void *{}"),
    "in0": ("const void *{}", "const void *{}"),
    "out": ("void *{}", "void *{}"),
    "n": ("int {}", "MPI_Count {}"),
    "N": ("MPI_Count {}", "MPI_Count {}"),
    "ns": ("const int {}[]", "const MPI_Count {}[]"),
    "np": ("int *{}", "MPI_Count *{}"),
    "ds": ("const int {}[]", "const MPI_Aint {}[]"),
    "as": ("const MPI_Aint {}[]", "const MPI_Aint {}[]"),
    "is": ("const int {}[]", "const int {}[]"),
    "pl": ("partition_list {}", "partition_list {}"),
    "i": ("int {}", "int {}"),
    "a": ("MPI_Aint {}", "MPI_Aint {}"),
    "t": ("MPI_Datatype {}", "MPI_Datatype {}"),
    "ts": ("const MPI_Datatype {}[]", "const MPI_Datatype {}[]"),
    "op": ("MPI_Op {}", "MPI_Op {}"),
    "c": ("MPI_Comm {}", "MPI_Comm {}"),
    "co": ("MPI_Comm *{}", "MPI_Comm *{}"),
    "w": ("MPI_Win {}", "MPI_Win {}"),
    "wo": ("MPI_Win *{}", "MPI_Win *{}"),
    "du": ("int {}", "MPI_Aint {}"),
    "f": ("MPI_File {}", "MPI_File {}"),
    "fo": ("MPI_File *{}", "MPI_File *{}"),
    "o": ("MPI_Offset {}", "MPI_Offset {}"),
    "gr": ("MPI_Group {}", "MPI_Group {}"),
    "eh": ("MPI_Errhandler {}", "MPI_Errhandler {}"),
    "s": ("const char *{}", "const char *{}"),
    "sv": ("char *{}[]", "char *{}[]"),
    "svs": ("char **{}[]", "char **{}[]"),
    "infos": ("const MPI_Info {}[]", "const MPI_Info {}[]"),
    "in_": ("MPI_Info {}", "MPI_Info {}"),
    "st": ("MPI_Status *{}", "MPI_Status *{}"),
    "ms": ("MPI_Message *{}", "MPI_Message *{}"),
    "r": ("MPI_Request *{}", "MPI_Request *{}"),
    "rv": ("MPI_Request {}", "MPI_Request {}"),
    "rs": ("MPI_Request {}[]", "MPI_Request {}[]"),
    "fl": ("int *{}", "int *{}"),
    "ix": ("int *{}", "int *{}"),
    "ixs": ("int {}[]", "int {}[]"),
}
_IN_OUT = {"Put": "in", "Rput": "in", "Get": "out", "Rget": "out"}

_HEAD = """/* Written by wrappers.py from the table in calls.py. */
#include "trace.h"

#include <stddef.h>

#if MPI_VERSION >= 4 /* MPICH 4.0 has it without the const of the standard */
typedef __typeof__(__builtin_choose_expr(
    __builtin_types_compatible_p(__typeof__(&MPI_Pready_list), int (*)(int, const int *, MPI_Request)),
    (const int *)0, (int *)0)) partition_list;
#endif

"""
_FRAME = """
static int begun(int code)
{
    if (code == MPI_SUCCESS)
        start_recording();
    return code;
}

int MPI_Init(int *argc, char ***argv)
{
    return begun(((int (*)(int *, char ***))next("PMPI_Init"))(argc, argv));
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return begun(((int (*)(int *, char ***, int, int *))next("PMPI_Init_thread"))(argc, argv, required, provided));
}

int MPI_Finalize(void)
{
    finish_recording(1);
    return ((int (*)(void))next("PMPI_Finalize"))();
}

int MPI_Abort(MPI_Comm comm, int code)
{
    finish_recording(0);
    return ((int (*)(MPI_Comm, int))next("PMPI_Abort"))(comm, code);
}

/* Its handle may stand for another type then. */
int MPI_Type_free(MPI_Datatype *type)
{
    forget_types();
    return ((int (*)(MPI_Datatype *))next("PMPI_Type_free"))(type);
}

int PMPI_Type_free(MPI_Datatype *type) __attribute__((alias("MPI_Type_free")));
int PMPI_Init(int *argc, char ***argv) __attribute__((alias("MPI_Init")));
int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided) __attribute__((alias("MPI_Init_thread")));
int PMPI_Finalize(void) __attribute__((alias("MPI_Finalize")));
int PMPI_Abort(MPI_Comm comm, int code) __attribute__((alias("MPI_Abort")));
"""

#: Programs that call no MPI_Init: the first session begins the recording, the last one ends it.
_SESSIONS = """
#if MPI_VERSION >= 4
static int sessions;

int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session)
{
    MPI_Group world = MPI_GROUP_NULL;
    int code = ((int (*)(MPI_Info, MPI_Errhandler, MPI_Session *))next("PMPI_Session_init"))(info, handler, session);
    if (code == MPI_SUCCESS && !__atomic_fetch_add(&sessions, 1, __ATOMIC_SEQ_CST) &&
        PMPI_Group_from_session_pset(*session, "mpi://WORLD", &world) == MPI_SUCCESS)
        start_session(world);
    return code;
}

int MPI_Session_finalize(MPI_Session *session)
{
    int initialized = 0, finalized = 0;
    PMPI_Initialized(&initialized);
    PMPI_Finalized(&finalized);
    if (!__atomic_sub_fetch(&sessions, 1, __ATOMIC_SEQ_CST) && (!initialized || finalized))
        finish_recording(1);
    return ((int (*)(MPI_Session *))next("PMPI_Session_finalize"))(session);
}

int PMPI_Session_init(MPI_Info, MPI_Errhandler, MPI_Session *) __attribute__((alias("MPI_Session_init")));
int PMPI_Session_finalize(MPI_Session *) __attribute__((alias("MPI_Session_finalize")));
#endif
"""
#: Open MPI 4 has the persistent collectives of MPI 4 under names of its own.
_EARLY = "\n#if MPI_VERSION < 4 && defined(OPEN_MPI){text}#endif\n"


@dataclass(frozen=True, slots=True)
class Wrapped:
    """One MPI call: arguments as (kind, name), notes before and after, with counts or not."""

    name: str
    arguments: tuple[tuple[str, str], ...]
    before: str
    after: str
    counted: bool
    since_4: bool = False
    twin_of_4: bool = False

    @property
    def kind(self) -> str:
        """Its number in the table of names."""
        return f"K_{self.name}"


def source() -> str:
    """The whole of wrappers.c."""
    wrapped = list(_wrapped())
    names = ", ".join(f'"MPI_{call.name}"' for call in wrapped)
    parts = [_HEAD, f"enum {{ {', '.join(call.kind for call in wrapped)} }};\n"]
    parts += [f"const char *const call_names[] = {{{names}}};\n", _FRAME, _SESSIONS]
    parts += [_guarded(_classic(call, large=False), call.since_4) for call in wrapped]
    parts += [_guarded(_classic(call, large=True), since_4=True) for call in wrapped if call.counted]
    early = [call for call in wrapped if call.twin_of_4]
    parts += [_EARLY.format(text=_classic(call, large=False, prefix="MPIX")) for call in early]
    return "".join(parts)


def _wrapped() -> Iterator[Wrapped]:
    yield from _lines(calls.POINT_TO_POINT, counted=True)
    yield from _lines(calls.POINT_TO_POINT_4, counted=True, since_4=True)
    yield from _lines(calls.PARTITIONED, counted=False, since_4=True)
    yield from _lines(calls.REQUESTS, counted=False)
    for call in _lines(calls.COLLECTIVE, counted=True):
        yield call
        yield from _twins(call)
    yield from _lines(calls.ONE_SIDED, counted=True)
    for call in _lines(calls.FILES, counted=True):
        yield call
        yield _begun(call)
    yield from _lines(calls.FILES_BLOCKING, counted=True)
    yield from _lines(calls.WINDOWS, counted=True)
    yield from _lines(calls.BUFFERS, counted=True)
    yield from _lines(calls.OTHERS, counted=False)
    yield from _lines(calls.OTHERS_4, counted=False, since_4=True)


def _has_counts(arguments: tuple[tuple[str, str], ...]) -> bool:
    return any(kind in ("n", "ns", "np", "du") for kind, _ in arguments)


def _twins(call: Wrapped) -> Iterator[Wrapped]:
    request = ("r", "request")
    initial = f"I{call.name[0].lower()}{call.name[1:]}"
    noted = f"{call.after}; makes_request(e, *request, 0)"
    yield Wrapped(initial, (*call.arguments, request), call.before, noted, call.counted)
    kept = f"{call.after}; makes_request(e, *request, 1)"
    yield Wrapped(
        f"{call.name}_init",
        (*call.arguments, ("in_", "info"), request),
        "",
        kept,
        call.counted,
        since_4=True,
        twin_of_4=True,
    )


def _begun(call: Wrapped) -> Wrapped:
    """MPI_File_iread_at of MPI_File_read_at: a request in the place of the status."""
    arguments = (*call.arguments[:-1], ("r", "request"))
    noted = f"{call.after}; makes_request(e, *request, 0)"
    return Wrapped(call.name.replace("File_", "File_i"), arguments, call.before, noted, call.counted)


def _lines(table: str, *, counted: bool, since_4: bool = False) -> Iterator[Wrapped]:
    for line in table.strip().splitlines():
        names, arguments, before, after = (part.strip() for part in re.split(r" ?\| ?", line, maxsplit=3))
        for name in names.split():
            listed = tuple(_argument(argument, name) for argument in arguments.split(", "))
            yield Wrapped(name, listed, before, after, counted and _has_counts(listed), since_4)


def _argument(declared: str, call: str) -> tuple[str, str]:
    kind, name = declared.split()
    return _IN_OUT.get(call, kind) if kind == "in0" else kind, name


def _classic(call: Wrapped, *, large: bool, prefix: str = "MPI") -> str:
    suffix, family = ("_c", "big") if large else ("", "int")
    parameters = ", ".join(KINDS[kind][large].format(name) for kind, name in call.arguments)
    values = ", ".join(name for _, name in call.arguments)
    function = f"{prefix}_{call.name}{suffix}"
    return (
        f"\nint {function}({parameters})\n{{\n    static int (*real)({parameters});\n"
        f'    if (!real)\n        real = next("P{function}");\n'
        f"    struct event event, *e = &event;\n    begin(e, {call.kind});\n"
        f"{_statement(call.before, family)}    int code = real({values});\n"
        f"{_noted(call.after, family)}    return code;\n}}\n"
        f'int P{function}({parameters}) __attribute__((alias("{function}")));\n'
    )


def _statement(note: str, family: str) -> str:
    return f"    {_for_family(note, family)};\n" if note else ""


def _noted(note: str, family: str) -> str:
    condition, polls, described = note.rpartition("??")
    described = _for_family(described.strip(), family)
    if not polls:
        described = f"        {described};\n" if described else ""
        return f"    if (leave(e, code)) {{\n{described}        commit(e);\n    }}\n"
    return (
        f"    if (leave(e, code)) {{\n        if ({condition.strip()}) {{\n            {described};\n"
        "            commit(e);\n        } else {\n            polled(e);\n        }\n    }\n"
    )


def _for_family(note: str, family: str) -> str:
    note = re.sub(r"\bCOUNTS\b", f"counts_{family}", note)
    return re.sub(r"\bNEIGHBOURS\b", f"neighbours_{family}", note)


def _guarded(text: str, since_4: bool) -> str:
    return f"\n#if MPI_VERSION >= 4{text}#endif\n" if since_4 else text
