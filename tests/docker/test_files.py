"""The container files say what production needs, and agree with the settings and with `gridportal serve`."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from gridportal.base import clusters
from gridportal.base.errors import InputError
from gridportal.base.portal_settings import BASE_DIR
from gridportal.serve import programs
from gridportal.serve.listing import env_file, read_settings
from tests.docker.files import PEOPLE, compose, instructions, variables

SECRETS = {"POSTGRES_PASSWORD": "s3cret", "GRIDPORTAL_SECRET_KEY": "key"}
PORTAL = ("migrate", "web", "worker", "beat")


def test_the_example_file_is_what_the_settings_make() -> None:
    made = subprocess.run(
        [sys.executable, "-m", "gridportal", "settings", "--env"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    committed = (BASE_DIR / ".env.example").read_text()
    assert committed == made, "make it again with: gridportal settings --env > .env.example"


def test_every_setting_is_shown_and_secrets_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from gridportal.cli import app

    monkeypatch.setenv("GRIDPORTAL_SECRET_KEY", "do-not-tell")
    said = CliRunner().invoke(app, ["settings", "--json"]).stdout
    assert "do-not-tell" not in said
    named = {row["name"]: row for row in json.loads(said)["settings"]}
    assert named["GRIDPORTAL_SECRET_KEY"]["value"] == "***"
    assert {"DATABASE_URL", "REDIS_URL", "GRIDPORTAL_HOME"} <= set(named)
    assert all(row["meaning"] for row in named.values())


def test_every_variable_of_the_compose_file_stands_in_the_example() -> None:
    named = {line.lstrip("#").partition("=")[0] for line in env_file() if line.startswith("#") and "=" in line}
    assert variables() <= named


def test_the_image_is_built_in_two_stages_and_does_not_run_as_root() -> None:
    found = instructions()
    stages = [text for word, text in found if word == "FROM"]
    assert len(stages) == 2
    assert all("slim" in text for text in stages)
    assert [text for word, text in found if word == "USER"] == ["gridportal"]
    assert found.index(("USER", "gridportal")) > max(i for i, (word, _) in enumerate(found) if word in ("RUN", "COPY"))
    assert not any(word == "ADD" for word, _ in found)


def test_the_image_runs_what_serve_runs() -> None:
    command = next(json.loads(text) for word, text in instructions() if word == "CMD")
    assert command == programs.web("0.0.0.0:8000", workers=2)


def test_what_is_copied_exists_and_is_let_through() -> None:
    let_through = (BASE_DIR / "docker" / "Dockerfile.dockerignore").read_text().split()
    for word, text in instructions():
        if word == "COPY" and not text.startswith("--from"):
            for source in text.split()[:-1]:
                assert (BASE_DIR / source).exists(), source
                assert f"!{source}" in let_through


def test_the_containers_run_what_serve_runs() -> None:
    services = compose(SECRETS | {"WEB_CONCURRENCY": "5"})["services"]
    assert services["web"]["command"] == programs.web("0.0.0.0:8000", workers=5)
    assert services["worker"]["command"] == programs.worker()
    assert services["beat"]["command"] == programs.beat()


@pytest.mark.parametrize("name", sorted(SECRETS))
def test_a_missing_secret_stops_it(name: str) -> None:
    with pytest.raises(KeyError, match=name):
        compose({key: value for key, value in SECRETS.items() if key != name})


def test_only_the_web_server_is_published_and_only_on_loopback() -> None:
    services = compose(SECRETS)["services"]
    assert {name: service["ports"] for name, service in services.items() if "ports" in service} == {
        "web": ["127.0.0.1:8000:8000"]
    }
    document = compose(SECRETS)
    assert document["networks"]["servers"] == {"internal": True}
    for name in ("database", "broker"):
        assert services[name]["networks"] == ["servers"]


def test_everything_is_restarted_and_all_but_the_one_shot_are_checked() -> None:
    services = compose(SECRETS)["services"]
    assert {name: service["restart"] for name, service in services.items()} == {
        **dict.fromkeys(services, "unless-stopped"),
        "migrate": "on-failure",
    }
    assert {name for name, service in services.items() if "healthcheck" not in service} == {"migrate"}


def test_the_portal_waits_for_healthy_servers_and_for_the_one_shot() -> None:
    services = compose(SECRETS)["services"]
    healthy = {"database": {"condition": "service_healthy"}, "broker": {"condition": "service_healthy"}}
    assert services["migrate"]["depends_on"] == healthy
    for name in ("web", "worker", "beat"):
        assert services[name]["depends_on"] == healthy | {"migrate": {"condition": "service_completed_successfully"}}


def test_slurm_reaches_the_containers_read_only_and_the_home_has_one_path() -> None:
    services = compose(SECRETS | {"GRIDPORTAL_HOME": "/shared/portal"})["services"]
    for name in PORTAL:
        service = services[name]
        assert service["volumes"] == [
            "/shared/portal:/shared/portal",
            "/etc/slurm:/etc/slurm:ro",
            "/run/munge:/run/munge:ro",
        ]
        assert service["environment"]["GRIDPORTAL_HOME"] == "/shared/portal"
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]


def test_the_cluster_in_the_administrators_guide_is_one_that_the_settings_accept() -> None:
    text = (BASE_DIR / "docs" / "administrator.md").read_text()
    example = text.split("```json\n")[1].split("```")[0]
    assert [cluster.backend for cluster in clusters.parse(example).values()] == ["slurm"]


def test_a_setting_that_cannot_be_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIDPORTAL_TIME_BUDGET", "-1")
    with pytest.raises(InputError) as refused:
        read_settings()
    assert refused.value.field == "GRIDPORTAL_TIME_BUDGET"
    assert refused.value.value == "-1"


def test_people_of_the_machine_are_shown_to_those_who_act_for_them_and_cannot_be_changed() -> None:
    known, more = compose(SECRETS)["services"], compose({}, PEOPLE)["services"]
    assert set(more) == {"migrate", "web", "worker"} <= set(known)
    for service in more.values():
        assert set(service) == {"volumes"}
        assert [text.split(":")[1:] for text in service["volumes"]] == [
            ["/etc/passwd", "ro"],
            ["/etc/group", "ro"],
            ["/etc/gridportal", "ro"],
        ]
