"""The pages of experiments: the list, what each found, the trials, and who may start and stop."""

from __future__ import annotations

import csv
import io
import json

import pytest

from gridportal.experiments import registry
from gridportal.experiments.charts import has_marks
from gridportal.experiments.models import Experiment
from tests.gridportal.experiments import recorded
from tests.markup import markup

pytestmark = pytest.mark.django_db


def kept(name, folder, state="done"):
    result = recorded.keep(name, folder)
    count = len(recorded.trials(name))
    return Experiment.objects.create(
        name=name, seed=1, folder=str(folder), state=state, result=result, done=count, of=count
    )


@pytest.mark.parametrize("name", registry.names())
def test_a_page_shows_finding_figure_tables_and_single_runs(name, client_as, tmp_path):
    row = kept(name, tmp_path)
    text = markup(client_as("user").get(row.get_absolute_url()))

    assert registry.named(name).finding(row.result).split(";")[0].split("(")[0].strip() in text.replace("&#x27;", "'")
    assert 'data-chart="experiment-figure"' in text
    assert next(iter(recorded.trials(name))) in text
    assert 'id="cancel"' not in text


def test_single_runs_of_telemetry_say_how_much_was_compared_and_how_far_off_the_worst_was(client_as, tmp_path):
    row = kept("telemetry", tmp_path)
    key, found = next((k, f) for k, f in recorded.trials("telemetry").items() if "pairs" in f)
    worst = max(abs(pair["measured"] / pair["shaped"] - 1) for pair in found["pairs"])

    text = markup(client_as("user").get(row.get_absolute_url()))
    (line,) = [part for part in text.split("<tr>") if f">{key}<" in part]
    assert f'<td class="num">{worst:.3f}</td>' in line
    (told,) = [
        r
        for r in csv.DictReader(
            io.StringIO(client_as("user").get(f"{row.get_absolute_url()}trials.csv").content.decode())
        )
        if r["trial"] == key
    ]
    assert (int(told["compared"]), float(told["worst_error"])) == (len(found["pairs"]), worst)


@pytest.mark.parametrize("name", ["migration-size", "migration-load", "migration-time", "opportunistic"])
def test_experiments_on_moves_have_what_the_paper_says_of_each_case_beside_ours(client_as, tmp_path, name):
    row, paper = kept(name, tmp_path), registry.named(name).paper
    text = client_as("user").get(f"{row.get_absolute_url()}trials.csv").content.decode()
    lines = list(csv.DictReader(io.StringIO(text)))
    by_trial = {line["trial"]: line["paper"] for line in lines}
    assert len(by_trial) == len(lines) == len(recorded.trials(name)), "each once"
    case = paper["cases"][0]
    theirs = [each for each in paper["cases"] if each["case"] == case["case"]]
    expected = "; ".join(f"{e['cost']}: {e['decided']}, {'right' if e['right'] else 'wrong'}" for e in theirs)
    assert by_trial[f"{case['case']}/portal"] == expected
    assert by_trial[f"{case['case']}/opposite"] == by_trial["idle"] == ""
    assert expected in markup(client_as("user").get(row.get_absolute_url()))


@pytest.mark.parametrize("name", registry.names())
def test_a_page_says_so_while_there_is_nothing(name, client_as, tmp_path):
    result = recorded.summarized(name, tmp_path, {})
    row = Experiment.objects.create(name=name, folder=str(tmp_path), state="running", result=result)
    text = markup(client_as("operator").get(row.get_absolute_url()))

    assert "None has ended yet." in text
    assert 'id="cancel"' in text
    assert "Jobs that run here at the same time disturb it." in text
    assert not has_marks(registry.named(name).figure(result))


def test_the_slowdown_page_has_the_papers_figures_beside_ours(client_as, tmp_path):
    text = markup(client_as("manager").get(kept("slowdown", tmp_path).get_absolute_url()))

    assert "the paper" in text
    assert "tried with the program&#x27;s skeleton: the paper&#x27;s method" in text
    for figure in ("40.0", "27.6", "20.2", "0.51", "0.73"):
        assert figure in text


def test_every_bar_of_the_figure_has_its_interval(tmp_path):
    result = recorded.keep("slowdown", tmp_path)
    drawn = registry.named("slowdown").figure(result)
    bars = {trace["name"]: trace for trace in drawn["data"]}

    assert set(bars) == {"random", "all-all", "pattern-only", "pattern", "oracle"}
    at = bars["random"]["x"].index("cg")
    cg = result["programs"]["cg"]["random"]
    assert bars["random"]["y"][at] == pytest.approx(100 * cg["mean"], abs=0.01)
    assert bars["random"]["error_y"]["array"][at] == pytest.approx(100 * (cg["high"] - cg["mean"]), abs=0.02)
    assert bars["oracle"]["x"] == ["cg"]
    json.dumps(drawn, allow_nan=False)


def test_from_a_single_round_no_interval_is_told_or_drawn(client_as, tmp_path):
    first = {key: found for key, found in recorded.trials("slowdown").items() if key[0] in "0p"}
    first["0/ep/random"] = {"nodes": ["n1"], "seconds": 1.9999}
    result = recorded.summarized("slowdown", tmp_path, first)
    row = Experiment.objects.create(name="slowdown", folder=str(tmp_path), state="running", result=result)
    text = markup(client_as("user").get(row.get_absolute_url()))
    table = text.split("<h3>")[1]

    assert " to " not in table
    assert "-0" not in table
    assert f"{100 * result['programs']['cg']['random']['mean']:.1f}</td>" in table
    assert "bars below zero are the scatter of the machine" in text
    drawn = registry.named("slowdown").figure(result)
    assert {end for bar in drawn["data"] for end in bar["error_y"]["array"]} == {"none"}, "null is drawn as a cap"


def test_table_1_stands_beside_ours(client_as, tmp_path):
    text = markup(client_as("user").get(kept("loadtraffic", tmp_path).get_absolute_url()))

    for figure in ("112.6", "82.6", "530.2", "355.1", "540.0"):
        assert figure in text


def test_the_csv_has_every_trial_with_its_nodes_and_what_was_foretold(client_as, tmp_path):
    row = kept("slowdown", tmp_path)
    answer = client_as("user").get(f"{row.get_absolute_url()}trials.csv")
    lines = {line["trial"]: line for line in csv.DictReader(io.StringIO(answer.content.decode()))}

    assert set(lines) == set(recorded.trials("slowdown"))
    assert lines["0/cg/pattern"]["nodes"] == "n1 n2 n3 n4"
    assert lines["0/cg/pattern"]["predicted"] == "2.2"


def test_the_list_names_the_finding_and_plain_users_cannot_start(client_as, tmp_path):
    kept("telemetry", tmp_path)
    user, operator = (markup(client_as(role).get("/experiments/")) for role in ("user", "operator"))

    assert "telemetry, seed 1" in user
    assert "All 4 questions" in user or "goal" in user
    assert '<h2 id="start">' not in user
    assert '<h2 id="start">' in operator


def test_what_they_are_tells_how_long_each_takes(client_as):
    text = markup(client_as("operator").get("/experiments/"))

    for each in registry.experiments():
        assert f"It takes {each.duration} on two cores." in text


def test_one_that_has_not_begun_says_how_many_trials_it_has(client_as):
    client = client_as("operator")
    client.post("/experiments/start", {"name": "slowdown", "seed": "5"})
    row = Experiment.objects.get()
    text = markup(client.get(row.get_absolute_url()))

    assert f"0 of {len(recorded.trials('slowdown')) + 6 + 4} trials" in text, "6 programs prepared, 4 networks measured"
    Experiment.objects.update(of=0)
    assert ">0 trials<" in markup(client.get(row.get_absolute_url()))


def test_a_seed_that_was_run_already_is_refused_beside_the_field(client_as):
    client = client_as("operator")
    assert client.post("/experiments/start", {"name": "slowdown", "seed": "5"}).status_code == 302
    again = client.post("/experiments/start", {"name": "slowdown", "seed": "5"})

    assert again.status_code == 422
    assert "a seed that slowdown has not been run with" in markup(again)


def test_programs_of_others_are_an_option_of_skeletons_alone(client_as):
    client = client_as("operator")
    refused = client.post("/experiments/start", {"name": "slowdown", "seed": "5", "foreign": "on"})
    assert refused.status_code == 422
    assert "slowdown has no such option" in markup(refused)
    assert client.post("/experiments/start", {"name": "skeletons", "seed": "5", "foreign": "on"}).status_code == 302
    row = Experiment.objects.get()
    assert (row.foreign, row.plan.foreign) == (True, True)
    assert "skeletons, seed 5, foreign" in markup(client.get("/experiments/"))


def test_the_name_alone_leads_to_the_newest(client_as, tmp_path):
    old, new = kept("slowdown", tmp_path / "a"), kept("slowdown", tmp_path / "b")
    client = client_as("user")

    assert client.get("/experiments/slowdown/")["Location"] == new.get_absolute_url() != old.get_absolute_url()
    assert client.get("/experiments/loadtraffic/")["Location"] == "/experiments/"
    page = markup(client.get("/experiments/"))
    assert 'href="/experiments/slowdown/"' in page
    assert 'href="/experiments/loadtraffic/"' not in page, "nothing ran that it could lead to"


def test_telemetry_of_which_a_part_was_asked_names_that_part():
    goals = {"bandwidth": 0.95, "flows": 1.0}
    result = {"goals": goals, "reached": {"bandwidth": True}, "bandwidth": {"n": 7}, "flows": {"n": 0}}
    assert registry.named("telemetry").finding(result).startswith("So far as well as was wanted: bandwidth; the other")
