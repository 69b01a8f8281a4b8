"""`gridportal trace ...`: record what an MPI program calls, or only what its nodes send, and show its profile."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from gridportal.base import processes as shell
from gridportal.base import run_files
from gridportal.base.errors import GridPortalError, InputError
from gridportal.base.printed_table import Column, show_table
from gridportal.base.printed_text import echo, visible
from gridportal.base.typed_options import HELP, Commands
from gridportal.testbed.client import Grid
from gridportal.testbed.state import default_directory
from gridportal.web.command_database import database
from scheduling.messages import message
from scheduling.profiles.adapters import trace_library, traffic_watch
from scheduling.profiles.core import profile as profiles
from scheduling.profiles.core.profile import Profile
from scheduling.profiles.core.profile_names import LATENCY, OWN
from scheduling.profiles.core.trace import Trace
from scheduling.runs.adapters import recorder
from scheduling.runs.adapters.mpi_build import beside_python

app = typer.Typer(
    help="The communication pattern of an MPI program, by tracing it or by watching its nodes.",
    cls=Commands,
    context_settings=HELP,
    no_args_is_help=True,
)

_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
#: Of one run: on this machine more would be a fork bomb; and seconds.
MOST_RANKS, LONGEST = 1024, 30 * 86400.0
_PAIRS_SHOWN, _CALLS_SHOWN = 12, 10
_Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]
_RANKS = ", ".join(run_files.TRACE_RANK.format(rank=rank) for rank in (0, 1))
_Mpicc = Annotated[
    str | None, typer.Option(help="Compiler of the MPI that the program is linked with; default: the portal's own.")
]
_Output = Annotated[Path | None, typer.Option("-o", "--output", help="File to write; ends in .gz: compressed.")]
_Nodes = Annotated[str, typer.Option(help="Nodes of the emulated Grid, with commas, in rank order.")]
_State = Annotated[Path | None, typer.Option("--state-dir", help="State directory of the Grid.")]
_Keep = Annotated[str, typer.Option(help="Keep the profile for this application of the portal, by its slug.")]
_Parameters = Annotated[
    list[str] | None, typer.Option("--param", help="With --keep: NAME=VALUE, a parameter that it ran with.")
]
_Timeout = Annotated[float, typer.Option(help="Kill it after so many seconds.")]


@app.command()
def build(
    mpicc: _Mpicc = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Library; default: kept in the home.")] = None,
    as_json: _Json = False,
) -> None:
    """Build the recording library with the compiler of a program's own MPI."""
    compiler = mpicc or beside_python("mpicc")
    if output:
        trace_library.check_output(output)
    library = recorder.build(compiler, output.absolute()) if output else recorder.built(compiler, cache())
    echo(json.dumps({"library": str(library), "mpicc": compiler}) if as_json else str(library))


@app.command(context_settings=_PASS_ON)
def run(
    context: typer.Context,
    ranks: Annotated[int | None, typer.Option("-n", "--ranks", help="How many ranks; with --nodes one each.")] = None,
    nodes: _Nodes = "",
    mpicc: _Mpicc = None,
    launcher: Annotated[str, typer.Option(help="The program that starts the ranks.")] = "",
    output: _Output = None,
    keep: _Keep = "",
    param: _Parameters = None,
    timeout: _Timeout = 3600.0,
    state: _State = None,
    as_json: _Json = False,
) -> None:
    """Trace a program: `trace run -n 4 -- ./program`. Its output comes first, then its profile."""
    names = _names(nodes)
    count = _ranks(ranks, names)
    command = _command(context)
    _check(timeout, output)
    library = recorder.built(mpicc or beside_python("mpicc"), cache())
    with tempfile.TemporaryDirectory(prefix="gridportal-trace-") as folder:
        os.chmod(folder, 0o777)  # noqa: S103  # ranks on nodes may be other people
        program = [*recorder.prefix(library, folder), *command]
        if names:
            argv = [*traffic_watch.launcher_argv(launcher or "mpiexec", names, Path(folder)), *program]
            _on_nodes(Grid(state or default_directory()), names, argv, timeout, quiet=as_json)
        else:
            first = launcher or beside_python("mpiexec")
            _here([first, "-n", str(count), *program], timeout, quiet=as_json)
        recorded = trace_library.collect(Path(folder))
    if output:
        trace_library.save(recorded, output)
    seen = profiles.of_trace(recorded)
    _keep(keep, param or [], seen, recorded)
    _show(seen, as_json=as_json, trace=recorded)


@app.command(context_settings=_PASS_ON)
def monitor(
    context: typer.Context,
    nodes: _Nodes,
    launcher: Annotated[str, typer.Option(help="The program that starts the ranks.")] = "mpiexec",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File for the profile.")] = None,
    keep: _Keep = "",
    param: _Parameters = None,
    timeout: _Timeout = 3600.0,
    state: _State = None,
    as_json: _Json = False,
) -> None:
    """Find a program's pattern from the bytes that its nodes send, without changing it: for any MPI over TCP."""
    names = _names(nodes)
    command = _command(context)
    _check(timeout, output)
    with tempfile.TemporaryDirectory(prefix="gridportal-watch-") as folder:
        os.chmod(folder, 0o755)  # noqa: S103  # nodes read the list of hosts in it
        argv = [*traffic_watch.launcher_argv(launcher, names, Path(folder)), *command]
        observed = traffic_watch.watched(Grid(state or default_directory()), names, argv, timeout, str(Path.cwd()))
    if output:
        trace_library.write(output, json.dumps(profiles.document(observed), allow_nan=False).encode())
    _keep(keep, param or [], observed)
    _show(observed, as_json=as_json)


@app.command()
def merge(
    folder: Annotated[Path, typer.Argument(help=f"Where the ranks wrote {_RANKS}, ...")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The trace; ends in .gz: compressed.")],
    as_json: _Json = False,
) -> None:
    """Make one trace of the files that the ranks of a run wrote."""
    trace_library.check_output(output)
    recorded = trace_library.collect(folder)
    trace_library.save(recorded, output)
    document = {"trace": str(output), "ranks": recorded.ranks, "calls": recorded.calls}
    echo(json.dumps(document) if as_json else f"{output}: {recorded.calls:,} calls of {recorded.ranks} ranks")


@app.command()
def show(
    file: Annotated[Path, typer.Argument(help="A trace, or the folder of its ranks' files.")],
    as_json: _Json = False,
) -> None:
    """Show the profile of a trace: which pairs talk, its phases, its calls."""
    recorded = trace_library.load(file)
    _show(profiles.of_trace(recorded), as_json=as_json, trace=recorded)


def cache() -> Path:
    """Where libraries are kept, one for each MPI."""
    return default_directory().parent / "trace"


def _keep(slug: str, given: Sequence[str], profile: Profile, traced: Trace | None = None) -> None:
    """Write the profile into the portal's database, where jobs find it as their discovered pattern."""
    if not slug:
        return
    with database():
        from scheduling.jobs.models import Application
        from scheduling.profiles.services import stored_profiles as kept

        application = Application.objects.filter(slug=slug).first()
        if application is None:
            raise InputError("keep", slug, "the slug of an application of this portal")
        kept.keep(application, _parameters(given), profile, traced=traced)


def _parameters(given: Sequence[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    for name, equals, value in pairs:
        if not name or not equals:
            raise InputError("param", name + equals + value, "NAME=VALUE, such as class=W")
    return {name: value for name, _, value in pairs}


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _ranks(ranks: int | None, names: Sequence[str]) -> int:
    if names and ranks not in (None, len(names)):
        raise InputError("ranks", ranks, f"{len(names)}, one for each of the nodes")
    count = len(names) or ranks
    if not count or not 1 <= count <= MOST_RANKS:
        raise InputError("ranks", ranks, f"a whole number from 1 to {MOST_RANKS}, or --nodes")
    return count


def _check(timeout: float, output: Path | None) -> None:
    """What a long run would else find out at its end."""
    if not 0 < timeout <= LONGEST:
        raise InputError("timeout", timeout, f"a number of seconds above 0, at most {LONGEST:.0f}")
    if output:
        trace_library.check_output(output)


def _command(context: typer.Context) -> list[str]:
    if not context.args:
        raise InputError("command", None, "what to run, after --, as in: gridportal trace run -n 4 -- ./program")
    return list(context.args)


def _here(argv: Sequence[str], timeout: float, *, quiet: bool) -> None:
    process = shell.start(argv, stdout=subprocess.DEVNULL if quiet else None)
    try:
        code = process.wait(timeout)
    except subprocess.TimeoutExpired as error:
        raise GridPortalError(f"The program was ended, for it took more than {timeout:g} s.") from error
    finally:
        if process.poll() is None:
            _end(process)
    if code:
        raise GridPortalError(f"The program ended with exit code {code}, so there is no trace of a whole run.")


def _end(process: subprocess.Popen[bytes]) -> None:
    """The launcher ends its ranks when it is asked to; one that does not is killed."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _on_nodes(grid: Grid, names: Sequence[str], argv: Sequence[str], timeout: float, *, quiet: bool) -> None:
    done = traffic_watch.once(grid, names, argv, timeout, str(Path.cwd()))
    for each in done:
        if not quiet:
            echo(each["output"].rstrip())
        if each["exit_code"] is None:
            raise GridPortalError(f"The program was ended, for it took more than {timeout:g} s.")
        if each["exit_code"]:
            code = each["exit_code"]
            raise GridPortalError(f"The program ended with exit code {code}, so there is no trace of a whole run.")


def _show(profile: Profile, *, as_json: bool, trace: Trace | None = None) -> None:
    if as_json:
        echo(json.dumps(profiles.document(profile), allow_nan=False))
        return
    typer.secho(visible(_headline(profile, trace)), bold=True)
    echo(_pattern_text(profile))
    for reason in (profile.bound_by_latency, profile.warning, *profile.limits):
        if reason:
            echo(message(reason))
    if profile.storing:
        read, written = profile.file_bytes
        echo(f"Files: {read:,.0f} bytes read, {written:,.0f} written, {profile.storing:.3g} s in all ranks.")
    if profile.pairs:
        _show_pairs(profile)
    if profile.phases:
        _show_phases(profile)
    if profile.calls:
        _show_calls(profile)


def _headline(profile: Profile, trace: Trace | None) -> str:
    headline = f"{profile.ranks} ranks, {profile.wall:.3g} s"
    if trace is not None:
        headline += f", {trace.calls:,} calls, {trace.mpi}"
    if profile.ratio is not None:
        headline += f"; {profile.ratio:.2g} s of computation for each second in MPI"
    return headline


def _pattern_text(profile: Profile) -> str:
    if not profile.dominant:
        return "Pattern: none; no pair exchanges enough to matter."
    if profile.recognized.name == LATENCY:
        pairs = "1 pair" if len(profile.dominant) == 1 else f"{len(profile.dominant)} pairs"
        return f"Pattern: bound by latency; {pairs} of {len(profile.pairs)} send most of its messages."
    name, order = profile.recognized.name, profile.recognized.order
    renamed = f", ranks in the order {' '.join(map(str, order))}" if order else ""
    pairs = "1 pair matters" if len(profile.dominant) == 1 else f"{len(profile.dominant)} pairs matter"
    return f"Pattern: {'its own' if name == OWN else name}{renamed}; {pairs} of {len(profile.pairs)} that talk."


def _numbers(first: str, *heads: str) -> list[Column]:
    return [Column(first), *(Column(head, number=True) for head in heads)]


def _show_pairs(profile: Profile) -> None:
    rows = []
    for a, b, size in profile.pairs[:_PAIRS_SHOWN]:
        number = "-" if profile.numbers is None else f"{profile.numbers[a, b] + profile.numbers[b, a]:,.0f}"
        share = f"{size / profile.pairs[0][2]:.1%}" if profile.pairs[0][2] else "-"
        rows.append((f"{a}-{b}", f"{size:,.0f}", number, share))
    show_table(_numbers("Ranks", "Bytes", "Messages", "Of the heaviest"), rows, title="Pairs that talk")


def _show_phases(profile: Profile) -> None:
    rows = []
    for phase in profile.phases:
        seconds = f"{phase.computing:.3f}", f"{phase.communicating:.3f}"
        rows.append((str(phase.repeats), f"{phase.calls:,}", *seconds, f"{phase.bytes:,.0f}"))
    heads = _numbers("Repeats", "Calls", "Computing, s", "In MPI, s", "Bytes sent")
    show_table(heads, rows, title="Phases of rank 0")


def _show_calls(profile: Profile) -> None:
    rows = [
        (total.call, f"{total.count:,}", f"{total.bytes:,.0f}", f"{total.seconds:.3f}")
        for total in profile.calls[:_CALLS_SHOWN]
    ]
    show_table(_numbers("Call", "Times", "Bytes", "Seconds"), rows, title="Calls of all ranks")
