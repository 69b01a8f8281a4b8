"""The source against servers that answer badly, late or not at all."""

from __future__ import annotations

import contextlib
import http.server
import json
import socket
import threading
import time
from urllib.parse import parse_qs

import pytest
from pydantic import ValidationError

from gridportal.base.errors import BackendError
from gridportal.base.prometheus_setting import Prometheus
from monitoring.telemetry.adapters.prometheus import PrometheusSource

NOW = 1_800_000_000.0


def vector(*series):
    return {"status": "success", "data": {"resultType": "vector", "result": list(series)}}


def one(value, at=NOW, **labels):
    return {"metric": {"instance": "n1:9100"} | labels, "value": [at, value]}


class Speaker(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        query = form["query"][0]
        self.server.asked.append((self.path, {k: v[0] for k, v in form.items()}, dict(self.headers)))
        answer = self.server.answers.get(query, self.server.answers.get("*", vector()))
        status, body = answer if isinstance(answer, tuple) else (200, json.dumps(answer).encode())
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) + self.server.promised))
        if status in (301, 302):
            self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()
        self.wfile.write(body)
        if self.server.promised:
            self.close_connection = True

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Speaker)
    made.asked, made.promised = [], 0
    made.answers = {"vector(time())": vector({"metric": {}, "value": [NOW, str(NOW)]})}
    made.url = f"http://127.0.0.1:{made.server_address[1]}"
    thread = threading.Thread(target=made.serve_forever, args=(0.05,))
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def ask(server, now=NOW, *, since=NOW, nodes=(), authorization="", **setting):
    only = {"queries": {"load": "load", **dict.fromkeys(("cpu", "memory_free", "memory_total", "disk_free"), "")}}
    only["queries"] |= dict.fromkeys(("tx", "rx", "ib_tx", "ib_rx", "gpu"), "") | setting.pop("queries", {})
    about = Prometheus.model_validate({"url": server.url, "timeout": 2} | only | setting)
    return PrometheusSource("p", about, authorization, frozenset(nodes), since).collect(now)


def test_nan_and_infinities_bring_no_sample_and_the_others_do(server):
    server.answers["load"] = vector(one("NaN"), one("+Inf", instance="n2:9100"), one("0.5", instance="n3:9100"))
    assert [(s.subject, s.value, s.at) for s in ask(server).samples] == [("n3", 0.5, NOW)]


def test_an_interface_and_a_mapped_label_name_the_subject(server):
    server.answers["tx"] = vector(one("80", device="eth0"), one("9", instance="10.0.0.4:9", device="ib0"))
    found = ask(server, queries={"tx": "tx"}, nodes=["n1", "n4"])
    assert [s.subject for s in found.samples] == ["n1:eth0"]
    named = Prometheus(url=server.url, queries={"tx": "tx"}, nodes={"10.0.0.4:9": "n4"})
    both = PrometheusSource("p", named, since=NOW).collect(NOW)
    assert {s.subject for s in both.samples} == {"n1:eth0", "n4:ib0"}


def test_clocks_that_differ_are_set_right_and_said(server):
    theirs = NOW + 100
    server.answers |= {
        "vector(time())": vector({"metric": {}, "value": [theirs, str(theirs)]}),
        "timestamp(up)": vector(one(str(theirs - 7), at=theirs)),
        "load": vector(one("1", at=theirs)),
    }
    found = ask(server)
    assert [s.at for s in found.samples] == [NOW - 7]
    assert found.lag == pytest.approx(107)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((200, b"<html>hello"), "no JSON"),
        ((200, b""), "no JSON"),
        ((502, b"bad gateway"), "502 with no JSON"),
        ((200, b"[1, 2]"), "refused"),
        ({"status": "error", "error": "query timed out"}, "query timed out"),
        ({"status": "success", "data": {"resultType": "scalar", "result": [1, "2"]}}, "no vector"),
        ({"status": "success"}, "no vector"),
        (vector({"metric": {"instance": "n1"}}), "cannot be read"),
        (vector("n1"), "cannot be read"),
        (vector({"metric": {}, "value": [NOW, "many"]}), "cannot be read"),
        ((403, b""), r"Authorization \(403\)"),
        ((302, b""), "302 with no JSON"),
    ],
)
def test_garbage_is_said_in_one_sentence(server, answer, words):
    server.answers["load"] = answer
    with pytest.raises(BackendError, match=words) as said:
        ask(server)
    assert "\n" not in str(said.value)


def test_an_answer_that_breaks_off_is_no_answer(server):
    server.answers["load"], server.promised = vector(one("1")), 50
    with pytest.raises(BackendError, match="did not answer"):
        ask(server)


def test_a_server_that_is_not_there_or_silent_is_given_up():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(BackendError, match="did not answer"):
            PrometheusSource("p", Prometheus(url=url)).collect(NOW)
        silent.listen()
        begun = time.monotonic()
        with pytest.raises(BackendError, match="timed out"):
            PrometheusSource("p", Prometheus(url=url, timeout=0.2)).collect(NOW)
        assert time.monotonic() - begun < 10


def test_the_header_and_the_path_before_the_api_are_sent(server):
    server.answers["load"] = vector(one("1"))
    ask(server, authorization="Bearer abc", url=f"{server.url}/prom/")
    assert {path for path, _, _ in server.asked} == {"/prom/api/v1/query"}
    assert {headers["Authorization"] for _, _, headers in server.asked} == {"Bearer abc"}


def test_a_gap_is_asked_for_no_further_back_than_the_setting(server):
    server.answers["load"] = vector(one("1"))
    with pytest.raises(BackendError, match="no matrix"):
        ask(server, since=NOW - 86_400, backfill=600)
    path, form, _ = server.asked[-1]
    assert path.endswith("query_range")
    assert (float(form["start"]), float(form["end"]), form["step"]) == (NOW - 600, NOW - 30, "30")


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "ftp://p"},
        {"url": "http://me:word@p:9090"},
        {"node_pattern": "["},
        {"node_pattern": "n1"},
        {"queries": {"Bad Name": "x"}},
        {"window": 0},
        {"unknown": 1},
    ],
)
def test_a_setting_that_cannot_work_is_refused(wrong):
    with pytest.raises(ValidationError):
        Prometheus.model_validate({"url": "http://p:9090"} | wrong)


def dripping(head: bytes, drop: bytes, pause: float):
    """A server that never comes to the end of the head of its answer."""
    made = socket.create_server(("127.0.0.1", 0))

    def talk():
        with contextlib.suppress(OSError):
            connection, _ = made.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(head)
                while True:
                    connection.sendall(drop)
                    time.sleep(pause)

    threading.Thread(target=talk, daemon=True).start()
    return made


@pytest.mark.parametrize(
    ("head", "drop"),
    [
        (b"HTTP/1.1 200 OK\r\nX: ", b"a"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"0"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
)
def test_an_answer_that_drips_in_is_given_up_wherever_it_is(head, drop):
    with dripping(head, drop, 0.05) as slow:
        url = f"http://127.0.0.1:{slow.getsockname()[1]}"
        with pytest.raises(BackendError, match=r"timed out, not whole after 0\.5 s"):
            PrometheusSource("p", Prometheus(url=url, timeout=0.5)).collect(NOW)


@pytest.mark.parametrize("body", [b"[" * 100_000, json.dumps(vector(one("1", at=10**400))).encode()])
def test_json_that_is_too_deep_or_too_large_is_no_answer(server, body):
    server.answers["load"] = (200, body)
    with pytest.raises(BackendError):
        ask(server)
