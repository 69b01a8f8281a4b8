"""`gridportal match`: the best set of resources for a request in ClassAds, and why."""

from __future__ import annotations

import json
import os
import stat
import time
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from gridportal.base.errors import GridPortalError, InputError
from gridportal.base.printed_text import echo
from gridportal.network.topology import Topology
from gridportal.web.command_database import database
from monitoring.telemetry.adapters import topology_file
from scheduling.matching.core.answers import MatchAnswer, StatusCode
from scheduling.matching.core.language.ad_reader import LONGEST_REQUEST, LONGEST_RESOURCES
from scheduling.matching.match_documents import document, xml
from scheduling.matching.services.limited_match import MatchTextError, limited_match
from scheduling.matching.services.mapping import Bandwidths, mapped, with_shares
from scheduling.matching.services.match_texts import MatchQuestion
from scheduling.resource_requests.commands.match_tables import show_answer

FORMATS = ("json", "xml")
#: Seconds to start the process of a match, at least.
_STARTING = 15.0
#: Of a character in UTF-8, at most.
_BYTES = 4


def match_command(
    request: Annotated[str, typer.Argument(metavar="REQUEST.ad", help="The request: one ClassAd.")],
    resources: Annotated[
        str | None,
        typer.Argument(
            metavar="RESOURCES.ads", help="Ads of resources, in brackets or as condor_status -long prints them."
        ),
    ] = None,
    topology: Annotated[
        str | None, typer.Option(help="Nodes of a topology file, or a shipped one, in place of RESOURCES.ads.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Nodes of a cluster of the portal in GRIDPORTAL_HOME, as they are now.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say clause by clause why nothing matches, or why this set does.")
    ] = False,
    output: Annotated[str | None, typer.Option("--format", help="json or xml, in place of a table.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    seconds: Annotated[
        float,
        typer.Option(
            help="For reading, filtering and the search together; then the best set so far counts. --explain may take "
            "as long again."
        ),
    ] = 60.0,
    mapper_seconds: Annotated[float, typer.Option(help="For the mapper that the request names.")] = 30.0,
    person: Annotated[
        str, typer.Option("--as", help="With --cluster: who asks. The portal keeps the request, with its story.")
    ] = "",
    lifetime: Annotated[
        int | None,
        typer.Option(help="With --cluster and --as: seconds to wait for a set. Default: the request's own lifetime."),
    ] = None,
    forecast: Annotated[
        bool, typer.Option("--forecast", help="With --cluster: by forecasts in place of the last measurements.")
    ] = False,
) -> None:
    """Find the best set of resources for a request in ClassAds (docs/matching.md). Exit code 1 where none matches."""
    asked_at = time.monotonic()
    try:
        shown = _format(output, as_json=as_json)
        _check_seconds("seconds", seconds)
        _check_seconds("mapper-seconds", mapper_seconds)
        _check_source(resources, topology, cluster)
        text = _text(request, "REQUEST.ad", LONGEST_REQUEST)
        source = Path(request).name
        if person or lifetime is not None or (forecast and cluster is None):
            answer = _kept(text, cluster, person, lifetime, forecast=forecast)
        else:
            pool, network = _pool(resources, topology, cluster, forecast=forecast)
            pool_source = Path(resources or topology or cluster or "").name
            question = MatchQuestion(
                text, pool, source, pool_source, explain=explain, seconds=seconds, asked_at=asked_at
            )
            ask = partial(mapped, seconds=mapper_seconds)
            answer = with_shares(limited_match(question, _last_moment(question)), _bandwidths(network), ask)
    except GridPortalError as error:
        echo(str(error), err=True)
        if isinstance(error, MatchTextError) and error.pointer:
            echo(error.pointer, err=True)
        raise typer.Exit(error.exit_code) from error
    _show(answer, shown)
    if answer.status is not StatusCode.OK:
        raise typer.Exit(1)


def _last_moment(question: MatchQuestion) -> float:
    """When the process of the match is ended, on the monotonic clock: it has to start, and to say what it has found."""
    spared = question.seconds * (2 if question.explain else 1)
    return (question.asked_at or time.monotonic()) + spared + max(_STARTING, question.seconds)


def _check_source(*sources: str | None) -> None:
    given = [each for each in sources if each is not None]
    if len(given) != 1:
        raise InputError("RESOURCES.ads", given, "one of RESOURCES.ads, --topology and --cluster")


def _pool(
    resources: str | None, topology: str | None, cluster: str | None, *, forecast: bool
) -> tuple[str, Topology | None]:
    """The ads, and the network whose nodes they are of; None where they stand in a file."""
    if cluster is not None:
        with database():
            from scheduling.resource_requests.services.resource_monitor import MONITOR

            found = MONITOR.pool(cluster, forecast=forecast)
            return found.text, found.network
    if topology is not None:
        from scheduling.matching.core.topology_ads import topology_ads

        network = topology_file.load(topology)
        return topology_ads(network), network
    return _text(resources or "", "RESOURCES.ads", LONGEST_RESOURCES), None


def _kept(text: str, cluster: str | None, person: str, lifetime: int | None, *, forecast: bool) -> MatchAnswer:
    """The answer of a request that the portal keeps, once it has one; Control-C cancels it."""
    if cluster is None:
        raise InputError("--cluster", None, "a cluster with --as, --lifetime and --forecast")
    with database():
        from gridportal.accounts.models import User
        from scheduling.messages import message
        from scheduling.resource_requests.services import request_rounds, sending_requests

        who = User.objects.filter(username=person, is_active=True).first()
        if who is None or not who.has_perm("scheduling.send_match_request"):
            raise InputError("--as", person, "the name of somebody who may send requests")
        row = sending_requests.send_request(who, sending_requests.NewRequest(text, cluster, lifetime, forecast))
        try:
            while request_rounds.follow_request(row):
                time.sleep(1.0)
        except KeyboardInterrupt:
            sending_requests.cancel_request(who, row)
        echo(f"Request {row.pk} is {row.state}.", err=True)
        found = row.match_answer
        if found is None:
            raise GridPortalError(message(row.reason) or f"Request {row.pk} was {row.state} before it was tried.")
        return found


def _bandwidths(network: Topology | None) -> Bandwidths:
    if network is None:
        return lambda _: {}
    from scheduling.matching.core.topology_ads import bandwidths_between

    return partial(bandwidths_between, network)


def _show(answer: MatchAnswer, shown: str) -> None:
    if shown == "json":
        echo(json.dumps(document(answer), allow_nan=False))
    elif shown == "xml":
        echo(xml(answer))
    else:
        show_answer(answer)


def _format(output: str | None, *, as_json: bool) -> str:
    if output is not None and output not in FORMATS:
        raise InputError("--format", output, "json or xml")
    if as_json and output == "xml":
        raise InputError("--format", output, "json together with --json")
    return "json" if as_json else output or ""


def _check_seconds(name: str, seconds: float) -> None:
    if not 0 < seconds <= 86_400:
        raise InputError(f"--{name}", seconds, "a number of seconds above 0, a day at most")


def _text(path: str, field: str, longest: int) -> str:
    """The text of a file or of a pipe, such as another command's output. Raises InputError for anything else, which may
    have no end, and for more characters than are read."""
    try:
        with Path(path).open("rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) and not stat.S_ISFIFO(found.st_mode):
                raise InputError(field, path, "a file of text, or a pipe")
            most = _BYTES * longest
            raw = b"" if found.st_size > most else file.read(most + 1)
        text = raw[:most].decode("utf-8", "strict" if len(raw) <= most else "ignore")
    except UnicodeDecodeError as error:
        raise InputError(field, path, "a file of text in UTF-8") from error
    except OSError as error:
        raise InputError(field, path, f"a file that can be read ({error.strerror})") from error
    if max(found.st_size, len(raw)) > most or len(text) > longest:
        raise InputError(field, path, f"a file of at most {longest:,} characters")
    return text
