"""Pages and REST of alerts: rules made, changed, muted and removed; what a wrong value is told."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from gridportal.accounts.models import AuditEvent
from monitoring.clusters.models import Cluster, Link, Node
from monitoring.history.core.samples import Sample
from monitoring.telemetry.services.readings import record_readings
from scheduling.alerts.models import Alert, AlertRule
from scheduling.alerts.services import changing_rules
from scheduling.alerts.services.judging_rules import judge_rules

FORM = {
    "name": "Busy links",
    "metric": "link_use",
    "subject": "",
    "side": "above",
    "level": "80",
    "clear": "70",
    "minutes": "10",
    "enabled": "on",
}
RULE = {"name": "busy", "cluster": "grid", "metric": "link_use", "level": 0.5}


@pytest.fixture
def cluster(db: None) -> Cluster:
    made = Cluster.objects.create(name="grid", topology="two", directed=True, measured_at=timezone.now())
    one, two = (Node.objects.create(cluster=made, name=f"n{at}", position=at) for at in (1, 2))
    Link.objects.create(cluster=made, source=one, target=two, capacity=1e8, bandwidth=1e7, measured_at=timezone.now())
    record_readings("grid", "probes", [Sample("n1>n2", "bandwidth", timezone.now().timestamp(), 1e7)])
    return made


def words(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def test_a_rule_is_made_from_the_form_and_told_in_a_sentence(client_as: Any, cluster: Any) -> None:
    client = client_as("operator")
    answer = client.post("/alerts/rules/new", FORM | {"cluster": cluster.pk}, follow=True)
    rule = AlertRule.objects.get()
    assert (rule.level, rule.clear, rule.hold) == (0.8, 0.7, 600)
    assert f'<a href="/alerts/rules/{rule.pk}/">The rule Busy links</a> is watched' in words(answer)
    assert "Use of any link above 80 % for 10 min; it ends at or below 70 %." in words(answer)
    page = words(client.get(rule.get_absolute_url()))
    assert 'value="80"' in page
    assert AuditEvent.objects.filter(action="alert_rule.make", object_label="Busy links").exists()


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("clear", "90", "Enter a value no higher than the level."),
        ("minutes", "-1", "Enter a number from 0"),
        ("level", "", "Enter a number."),
        ("subject", "n1>n9", "Enter nothing, or one of n1&gt;n2."),
        ("name", "", "Enter a name."),
        ("level", "120", "Enter at least 0 % and less than 100 %."),
        ("level", "100", "Enter at least 0 % and less than 100 %."),
        ("clear", "-1", "Enter at least 0 % and at most 100 %."),
    ],
)
def test_a_wrong_value_is_told_beside_its_field(
    client_as: Any, cluster: Any, field: str, value: str, sentence: str
) -> None:
    answer = client_as("operator").post("/alerts/rules/new", FORM | {"cluster": cluster.pk, field: value})
    assert answer.status_code == 422
    assert sentence in words(answer)
    assert not AlertRule.objects.exists()


def test_a_rule_on_a_figure_of_a_node_names_a_node_that_there_is(client_as: Any, cluster: Any) -> None:
    record_readings("grid", "agent", [Sample("n1", "cpu", timezone.now().timestamp(), 0.5)])
    client, rule = client_as("operator"), RULE | {"metric": "cpu", "above": False, "clear": 0.6}
    answer = client.post("/api/alert-rules", rule | {"subject": "n9"}, content_type="application/json")
    assert answer.json() == {"subject": ["subject is 'n9'; accepted is nothing, or one of n1, n2."]}
    answer = client.post("/api/alert-rules", rule | {"level": 0}, content_type="application/json")
    assert answer.json() == {"level": ["level is 0, which is 0 %; accepted is more than 0 % and at most 100 %."]}
    assert client.post("/api/alert-rules", rule | {"subject": "n2"}, content_type="application/json").status_code == 201


@pytest.mark.parametrize(
    ("subject", "metric", "value"),
    [("n1:mlx5_0", "ib_tx", 8e9), ("n1", "gres_used_gpu", 3.0), ("n1:eth0", "rx", 5e6)],
)
def test_figures_of_infiniband_gres_and_node_exporter_carry_alerts(
    client_as: Any, cluster: Any, subject: str, metric: str, value: float
) -> None:
    record_readings("grid", "prometheus", [Sample(subject, metric, timezone.now().timestamp(), value)])
    client = client_as("operator")
    rule = RULE | {"metric": metric, "subject": subject, "level": value / 2}
    assert client.post("/api/alert-rules", rule, content_type="application/json").status_code == 201
    judge_rules()
    assert Alert.objects.get().subject == subject
    assert f"{subject}</a>" in words(client.get("/alerts/"))


def test_a_rule_on_what_nothing_measures_is_saved_and_told(client_as: Any, cluster: Any) -> None:
    one, two = (cluster.nodes.get(name=name) for name in ("n1", "n2"))
    Link.objects.create(cluster=cluster, source=two, target=one, capacity=1e8)
    client = client_as("operator")
    says = "Nothing measures what it is about yet, so it cannot fire."
    form = FORM | {"cluster": cluster.pk}
    assert says in words(client.post("/alerts/rules/new", form | {"subject": "n2>n1"}, follow=True))
    silent = AlertRule.objects.get()
    assert says in words(client.get(silent.get_absolute_url()))
    assert client.get(f"/api/alert-rules/{silent.pk}").json()["problem"] == says
    assert says not in words(
        client.post("/alerts/rules/new", form | {"name": "Other", "subject": "n1>n2"}, follow=True)
    )
    assert words(client.get("/alerts/")).count("nothing measures it yet") == 1
    assert says not in words(client.get(AlertRule.objects.get(name="Other").get_absolute_url()))


def test_forms_begin_with_the_first_cluster_of_the_setting(client_as: Any, cluster: Any, settings: Any) -> None:
    Cluster.objects.create(name="alpha", topology="two")
    settings.CLUSTERS = {"grid": settings.CLUSTERS["grid"], "alpha": settings.CLUSTERS["grid"]}
    first = f'<option value="{cluster.pk}">grid</option> <option'
    for address in ("/alerts/rules/new", "/maintenance/"):
        assert first in words(client_as("operator").get(address)), address


def test_a_rule_whose_link_a_new_topology_has_not_is_told(client_as: Any, cluster: Any) -> None:
    rule = AlertRule.objects.create(
        name="busy", cluster=cluster, metric="link_use", level=0.5, clear=0.5, subject="n1>n2"
    )
    client = client_as("operator")
    assert "has no n1&gt;n2 now" not in words(client.get("/alerts/"))
    cluster.links.all().delete()
    assert "grid has no n1&gt;n2 now" in words(client.get("/alerts/"))
    assert "so this rule cannot fire" in words(client.get(rule.get_absolute_url()))


def test_what_fires_is_on_the_page_and_on_the_chart_of_its_link(client_as: Any, cluster: Any) -> None:
    client = client_as("manager")
    assert "Nothing fires" in words(client.get("/alerts/"))
    AlertRule.objects.create(name="busy", cluster=cluster, metric="link_use", level=0.5, clear=0.5)
    judge_rules()
    page = words(client.get("/alerts/"))
    assert "1 firing" in page
    assert "Use of the link n1&gt;n2</a>" in page
    assert "New rule" not in page
    chart = words(client.get("/topology/links/n1/n2/?cluster=grid"))
    assert ">busy</a> since" in chart
    assert '"fillcolor": "--risk"' in chart
    assert '"dash": "dot"' not in chart, "the level of the use is none of the bandwidth, which is drawn"


def test_the_level_of_a_rule_is_drawn_over_the_time_of_its_alert(client_as: Any, cluster: Any) -> None:
    now = timezone.now()
    record_readings("grid", "agent", [Sample("n1", "load", now.timestamp(), 5.0)])
    AlertRule.objects.create(name="full", cluster=cluster, metric="load", level=4.0, clear=4.0)
    judge_rules()
    page = words(client_as("operator").get("/topology/nodes/n1/?cluster=grid"))
    assert '"y0": 4.0, "y1": 4.0' in page
    assert page.count('"dash": "dot"') == 1


@pytest.mark.parametrize(
    ("metric", "level", "kept"),
    [("memory_free", "500 MB", 5e8), ("disk_free", "4", 4e9), ("link_use", "80 %", 0.8), ("link_use", "80", 0.8)],
)
def test_a_level_may_have_its_unit(client_as: Any, cluster: Any, metric: str, level: str, kept: float) -> None:
    record_readings("grid", "agent", [Sample("n1", name, timezone.now().timestamp(), 5.0) for name in (metric, "load")])
    client = client_as("operator")
    page = words(client.get("/alerts/rules/new"))
    assert 'id="id_level_unit" data-unit-of="id_metric" >%</span>' in page
    client.post("/alerts/rules/new", FORM | {"cluster": cluster.pk, "metric": metric, "level": level, "clear": ""})
    assert AlertRule.objects.get().level == kept


def test_a_level_in_words_is_refused_with_its_unit(client_as: Any, cluster: Any) -> None:
    refused = client_as("operator").post("/alerts/rules/new", FORM | {"cluster": cluster.pk, "level": "much"})
    assert refused.status_code == 422
    assert "Enter a number, in %." in words(refused)


def test_a_long_name_of_a_rule_leaves_room_for_the_moments(client_as: Any, cluster: Any) -> None:
    name = "Links that are too busy for the nightly copies of the other department"
    client_as("operator").post("/alerts/rules/new", FORM | {"cluster": cluster.pk, "name": name})
    page = words(client_as("operator").get("/alerts/"))
    assert f'title="{name}"' in page
    assert f">{name}<" not in page
    assert f">{name[:39]}…<" in page


def test_a_rule_is_muted_and_removed(client_as: Any, cluster: Any) -> None:
    rule = AlertRule.objects.create(name="busy", cluster=cluster, metric="link_use", level=0.5, clear=0.5)
    client = client_as("operator")
    assert "is muted until" in words(client.post(f"/alerts/rules/{rule.pk}/mute", {"seconds": "3600"}, follow=True))
    rule.refresh_from_db()
    assert rule.is_muted
    assert "is muted no longer" in words(client.post(f"/alerts/rules/{rule.pk}/mute", {"seconds": "0"}, follow=True))
    assert "from 0 to" in words(client.post(f"/alerts/rules/{rule.pk}/mute", {"seconds": "x"}, follow=True))
    assert "Rule busy is removed." in words(client.post(f"/alerts/rules/{rule.pk}/remove", follow=True))
    assert not AlertRule.objects.exists()


def test_a_rule_that_somebody_else_removed_is_told(people: Any, client_as: Any, cluster: Any, monkeypatch: Any) -> None:
    rule = AlertRule.objects.create(name="busy", cluster=cluster, metric="link_use", level=0.5, clear=0.5)
    client, gone = client_as("operator"), AlertRule.objects.filter(pk=rule.pk)

    def removed_first(*_: Any, **__: Any) -> Any:
        gone.delete()
        return rule

    for door, sent in (("mute", {"seconds": "60"}), ("", FORM | {"cluster": cluster.pk})):
        rule.save(force_insert=not gone.exists())
        with monkeypatch.context() as patch:
            patch.setattr("scheduling.alerts.views.get_object_or_404", removed_first)
            answer = client.post(f"/alerts/rules/{rule.pk}/{door}", sent, follow=True)
        assert f"The alert rule {rule.pk} was removed by somebody else." in words(answer)
    changing_rules.remove_rule(people["operator"], rule.pk)
    assert not AuditEvent.objects.filter(action="alert_rule.remove").exists(), "nothing was there to remove"


def test_rules_and_alerts_over_rest(client_as: Any, cluster: Any) -> None:
    client = client_as("operator")
    made = client.post("/api/alert-rules", RULE, content_type="application/json").json()
    assert (made["clear"], made["hold"], made["firing"]) == (0.5, 0, 0)
    judge_rules()
    (alert,) = client.get("/api/alerts?state=firing").json()["results"]
    assert (alert["subject"], alert["rule"], round(alert["value"], 3)) == ("n1>n2", made["id"], 0.9)
    address = f"/api/alert-rules/{made['id']}"
    assert client.get(address).json()["firing"] == 1
    changed = client.patch(address, {"level": 0.95, "hold": 5}, content_type="application/json").json()
    assert (changed["level"], changed["hold"]) == (0.95, 5)
    refused = client.patch(address, {"clear": 0.99}, content_type="application/json")
    assert refused.status_code == 400
    assert "clear" in refused.json()
    assert client.post(f"{address}/mute", {"seconds": 60}, content_type="application/json").json()["muted_until"]
    assert client.delete(address).status_code == 204
    assert not Alert.objects.exists()


def test_an_end_at_the_level_goes_along_with_it(client_as: Any, cluster: Any) -> None:
    client = client_as("operator")
    client.post("/alerts/rules/new", FORM | {"cluster": cluster.pk, "clear": " "})
    rule = AlertRule.objects.get()
    assert (rule.level, rule.clear) == (0.8, 0.8)
    assert "it ends at or below 80 %." in words(client.get("/alerts/"))
    form = client.get(rule.get_absolute_url()).context["form"]
    assert form.initial["clear"] == "", "the help beside the empty field says: at the level"
    for level in (0.6, 0.9):
        answer = client.patch(f"/api/alert-rules/{rule.pk}", {"level": level}, content_type="application/json")
        assert (answer.status_code, answer.json()["clear"]) == (200, level)


@pytest.mark.parametrize(
    ("field", "value", "word"),
    [
        ("cluster", "elsewhere", "cluster"),
        ("metric", "nonsense", "metric"),
        ("level", "high", "level"),
        ("level", 1e300, "level"),
    ],
)
def test_what_rest_refuses_names_the_field(client_as: Any, cluster: Any, field: str, value: Any, word: str) -> None:
    answer = client_as("operator").post("/api/alert-rules", RULE | {field: value}, content_type="application/json")
    assert answer.status_code == 400
    assert word in answer.json()
    if field == "cluster":
        assert answer.json()[field] == ["cluster is 'elsewhere'; accepted is one of grid."]


def test_two_rules_cannot_have_one_name(client_as: Any, cluster: Any) -> None:
    client = client_as("operator")
    client.post("/api/alert-rules", RULE, content_type="application/json")
    again = client.post("/api/alert-rules", RULE, content_type="application/json")
    assert again.status_code == 400
    assert "name" in again.json()


def test_over_rest_a_rule_says_that_its_subject_is_gone(client_as: Any, people: Any, cluster: Any) -> None:
    values = {"name": "busy", "cluster": cluster, "metric": "link_use", "subject": "n1>n2", "level": 0.5, "clear": 0.5}
    rule = changing_rules.make_rule(people["operator"], values)
    client = client_as("operator")
    assert client.get(f"/api/alert-rules/{rule.pk}").json()["problem"] == ""
    AlertRule.objects.filter(pk=rule.pk).update(subject="n1>n9")
    sentence = "grid has no n1>n9 now, so this rule cannot fire. Change what it is about, or remove it."
    assert client.get(f"/api/alert-rules/{rule.pk}").json()["problem"] == sentence
    assert [row["problem"] for row in client.get("/api/alert-rules").json()["results"]] == [sentence]
