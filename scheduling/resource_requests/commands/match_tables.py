"""What `gridportal match` prints for people."""

from __future__ import annotations

from gridportal.base.printed_table import Column, show_table
from gridportal.base.printed_text import echo
from scheduling.matching.core.answers import MatchAnswer, MatchExplanation
from scheduling.matching.match_documents import number
from scheduling.matching.match_messages import (
    aggregate_message,
    change_message,
    conflict_message,
    mapper_message,
    method_message,
    nearest_message,
    notice_message,
    passing_message,
    rank_text,
    refusal_message,
    rejected_message,
    rejected_outcome,
)

MACHINES_SHOWN = 100


def show_answer(answer: MatchAnswer) -> None:
    """The set or why there is none, notices, and the explanation where it was asked for."""
    for notice in answer.notices:
        echo(f"{notice_message(notice)}.", err=True)
    if answer.mapper is not None and (answer.mapper.failure or answer.mapper.unused):
        echo(mapper_message(answer.mapper), err=True)
    if answer.machines:
        _show_machines(answer)
    else:
        echo(refusal_message(answer))
    if answer.explanation is not None:
        _show_explanation(answer, answer.explanation)
    echo(f"Chosen in {answer.seconds:.3f} s.")


def _show_machines(answer: MatchAnswer) -> None:
    echo(f"Rank {rank_text(answer.rank, answer.ranked_by)} ({method_message(answer)}).")
    columns = [Column("Machine"), Column("Processors", number=True), Column("Share", number=True)]
    rows = []
    for machine in answer.machines[:MACHINES_SHOWN]:
        share = number(machine.share)
        shown = "-" if share is None else f"{share:.4g}" if isinstance(share, float) else str(share)
        rows.append((machine.dns, str(machine.processors), shown))
    show_table(columns, rows, title=f"{len(answer.machines)} machines" if len(answer.machines) > 1 else "1 machine")
    if len(answer.machines) > MACHINES_SHOWN:
        echo(f"The first {MACHINES_SHOWN} of {len(answer.machines)}; --format json lists all.")


def _show_explanation(answer: MatchAnswer, explanation: MatchExplanation) -> None:
    echo(passing_message(explanation.passing, explanation.pool, "resource"))
    if explanation.clauses:
        _show_clauses(explanation, is_matched=bool(answer.machines))
    if change := change_message(explanation):
        echo(change)
    for aggregate in explanation.aggregates:
        echo(f"{aggregate_message(aggregate)}.")
    if explanation.rejected:
        columns = (Column("Other sets", wraps=True), Column("Machines", number=True), Column("Rank", wraps=True))
        rows = [
            (rejected_message(each), str(each.size), rejected_outcome(each, answer.ranked_by))
            for each in explanation.rejected
        ]
        show_table(columns, rows, title="The best other sets")
    if answer.greedy_rank is not None:
        echo(f"The greedy algorithm alone comes to rank {rank_text(answer.greedy_rank, answer.ranked_by)}.")


#: So many columns of the clauses stand there whatever they say.
_ALWAYS = 3


def _show_clauses(explanation: MatchExplanation, *, is_matched: bool) -> None:
    columns = (
        Column("Clause", wraps=True),
        Column("Passes", number=True),
        Column("Left without it", number=True),
        Column("Not together with", wraps=True),
        Column("Nearest", wraps=True),
    )
    rows = []
    for report in explanation.clauses:
        of_sets = ("yes" if report.passing else "no", "" if is_matched else "some" if report.left_without else "none")
        passes, left = of_sets if report.is_collective else (str(report.passing), str(report.left_without))
        nearest = "" if is_matched else nearest_message(report)
        rows.append((report.text, passes, left, conflict_message(explanation, report), nearest))
    said = [place for place in range(len(columns)) if place < _ALWAYS or any(row[place] for row in rows)]
    shown = [tuple(row[place] for place in said) for row in rows]
    show_table([columns[place] for place in said], shown, title="Clauses of the requirements")
