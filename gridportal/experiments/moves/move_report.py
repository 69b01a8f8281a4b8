"""Experiments on moves as tables, figure and sentence, the paper's words beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from gridportal.experiments.charts import BAR_COLOURS, Figure, layout
from gridportal.experiments.moves.move_trials import ENOUGH, PORTAL
from gridportal.experiments.moves.move_verdicts import KINDS
from gridportal.experiments.tables import NOTHING, Table, number, percent
from gridportal.experiments.trial_columns import NODES, SECONDS, TOOK, Column

Result = Mapping[str, Any]
_WORDS = {True: "right", False: "wrong"}
#: With the predicted cost none is to be wrong, moves are to save so much, and their times to differ by no more.
GOALS = {"wrong": 0, "better": 0.4, "spread": 0.1}


def columns(paper: Result) -> tuple[Column, ...]:
    """The figures of single trials, beside those in which the portal decides what the `paper` has of their case."""
    return (
        NODES,
        Column(SECONDS.name, "Response, s", SECONDS.value, 1),
        Column("rule", "Who decides", lambda trial: trial.get("rule"), is_text=True),
        Column("moved", "Moved", _moved, is_text=True),
        Column("loaded", "Load after, s", lambda trial: trial.get("loaded"), 1),
        Column("refused", "Not moved, since", _refused, is_text=True),
        Column("called", "Called after, s", _called, 1),
        Column("cost", "Move, s", _cost, 1),
        Column("paper", "The paper", partial(_papers_case, paper), is_text=True),
        TOOK,
    )


def tables(result: Result, what: str) -> list[Table]:
    """Decisions by case and kind of cost, what moves cost, the paper's beside ours. `what`: by what cases differ."""
    decided = [_decided(name, result) for name in _names(result)]
    costs = [_costs(name, of) for name, of in result["details"].items()]
    paper = result["paper"]
    sums = [
        ["ours", *(_count(result["wrong"][kind]) for kind in KINDS), percent(result["better"]), *_spread(result)],
        ["wanted", NOTHING, "0", f"more than {percent(GOALS['better'])}", percent(GOALS["spread"])],
        ["the paper", *(_count(paper["wrong"][kind]) for kind in KINDS), _papers_share(paper), NOTHING],
    ]
    heads = [what, "stayed, s", "moved, s", "worst-case cost", "predicted cost", "the paper"]
    cost_heads = [what, "load, s", "call, s", "gain, %", "cost, s", "predicted, s", "reading, s", "predicted, s"]
    unjudged = [[name, why] for name, why in result.get("unjudged", {}).items()]
    return [
        Table("Decisions", heads, decided),
        *([Table("Not judged, for the opposite was not to be had", [what, "why"], unjudged)] if unjudged else []),
        Table("Moves", cost_heads, costs),
        Table(
            "Wrong decisions, and how much sooner moved jobs end",
            ["", "wrong, worst case", "wrong, predicted", "sooner, %", "times differ, %"],
            sums,
        ),
    ]


def figure(result: Result, across: str) -> Figure:
    """Response times of the run that stayed and of the one that was moved, by case; of other jobs, too."""
    cases = {case["case"]: case for case in result["cases"]}
    bars = [("stayed", [each["stay_seconds"] for each in cases.values()])]
    bars += [("moved", [each["move_seconds"] for each in cases.values()])]
    others = [of["others"][0] for of in result["details"].values() if of["others"]]
    if others:
        bars.insert(0, ("first job", others))
    data = [
        {
            "type": "bar",
            "name": name,
            "x": list(cases),
            "y": [round(each, 1) for each in seconds],
            "marker": {"color": BAR_COLOURS[place + 1]},
            "hovertemplate": f"%{{x}}, {name}: %{{y:.1f}} s<extra></extra>",
        }
        for place, (name, seconds) in enumerate(bars)
    ]
    shape = layout("seconds")
    shape["xaxis"] = {"title": {"text": across}, "type": "category", "showgrid": False}
    return {"data": data, "layout": shape}


def finding(result: Result) -> str:
    """How many decisions were wrong, and what moves saved, against the paper and what was wanted."""
    wrong, paper = result["wrong"], result["paper"]
    if wrong["predicted"] is None:
        return "No case was run both ways yet."
    count, scale = len(result["cases"]) // len(KINDS), result["scale"]
    cut = result.get("cut", 0)
    least = "at least " if cut else ""
    saved = (
        f"jobs that the portal moved ended {least}{percent(result['better'])} % sooner"
        if result["better"]
        else "none moved"
    )
    ended = f" A run that stayed was ended after {ENOUGH:g} times the time of the other one." if cut else ""
    return (
        f"Of {count} decisions {_count(wrong['predicted'])} were wrong with the predicted cost and "
        f"{_count(wrong['worst-case'])} with the worst case (paper: {_count(paper['wrong']['predicted'])} and "
        f"{_count(paper['wrong']['worst-case'])}; wanted: 0 with the predicted one); {saved} (paper: "
        f"{_papers_share(paper)} %; wanted: more than {percent(GOALS['better'])} %). A minute of the paper takes "
        f"{scale['minute']:.2g} s here, a matrix has {scale['size']:g} times the rows, and the worst case is "
        f"{scale['worst_case']:.0f} s.{ended}"
    )


def functions(what: str, across: str) -> tuple[Callable[[Result], list[Table]], Callable[[Result], Figure]]:
    """`tables` and `figure` of one experiment."""
    return lambda result: tables(result, what), lambda result: figure(result, across)


def _names(result: Result) -> Iterable[str]:
    return dict.fromkeys(case["case"] for case in result["cases"])


def _decided(name: str, result: Result) -> list[str]:
    by_kind = {case["cost"]: case for case in result["cases"] if case["case"] == name}
    theirs = [case for case in result["paper"]["cases"] if case["case"] == name]
    case = by_kind["predicted"]
    least = "over " if case.get("stay_cut") else ""
    times = [f"{least}{number(case['stay_seconds'], 1)}", number(case["move_seconds"], 1)]
    return [name, *times, *(_verdict(by_kind[kind]) for kind in KINDS), _papers(theirs)]


def _verdict(case: Mapping[str, Any]) -> str:
    return f"{case['decided']}, {_WORDS[case['right']]}"


def _papers(cases: list[Mapping[str, Any]]) -> str:
    return "; ".join(f"{case['cost']}: {_verdict(case)}" for case in cases) or NOTHING


def _costs(name: str, of: Mapping[str, Any]) -> list[str]:
    gain = NOTHING if of["gain"] is None else percent(of["gain"])
    figures = (of["cost"], of["predicted_cost"], of["reading"], of["predicted_reading"])
    return [name, number(of["loaded"], 1), number(of["called"], 1), gain, *(number(each, 1) for each in figures)]


def _count(value: int | None) -> str:
    return NOTHING if value is None else str(value)


def _spread(result: Result) -> list[str]:
    return [percent(result["spread"])]


def _papers_share(paper: Mapping[str, Any]) -> str:
    return f"more than {percent(paper['better'])}"


def _papers_case(paper: Result, trial: Mapping[str, Any]) -> str:
    case, _, way = str(trial.get("trial", "")).partition("/")
    theirs = [each for each in paper["cases"] if each["case"] == case]
    return _papers(theirs) if way == PORTAL and theirs else ""


def _moved(trial: Mapping[str, Any]) -> str:
    return {True: "yes", False: "no"}.get(trial.get("moved"), "")  # type: ignore[arg-type]  # None: it failed


def _refused(trial: Mapping[str, Any]) -> str:
    refusals = trial.get("refusals") or [{"why": ""}]
    return "" if trial.get("moved") else str(refusals[-1]["why"])


def _called(trial: Mapping[str, Any]) -> float | None:
    return min((call["at"] for call in trial.get("calls", ())), default=None)


def _cost(trial: Mapping[str, Any]) -> float | None:
    moves = trial.get("moves") or [{}]
    total = moves[-1].get("total")
    return float(total) if total is not None else None
