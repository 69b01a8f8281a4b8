"""A Prometheus and a node_exporter of the tests' own, from Debian's packages, on free loopback ports."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from gridportal.base import processes as shell

USER = "portal"
AUTHORIZATION = "Basic " + base64.b64encode(f"{USER}:open sesame".encode()).decode()
# bcrypt of the password, as Prometheus wants it
_HASH = "$2b$04$6uuxm0HhS5WFVxKy/uQMEugUUpkmO.FFr2Wgd96KCZTti7y1f0S/W"


@dataclass(frozen=True)
class Watched:
    """`url` of the Prometheus, and `target` as it labels the node."""

    url: str
    target: str


#: What node_exporter tells of a host with an InfiniBand port, and dcgm-exporter of one with two GPUs.
RECORDED = """\
# TYPE node_infiniband_port_data_transmitted_bytes_total counter
node_infiniband_port_data_transmitted_bytes_total{device="mlx5_0",port="1"} 1.40112e+12
# TYPE node_infiniband_port_data_received_bytes_total counter
node_infiniband_port_data_received_bytes_total{device="mlx5_0",port="1"} 1.38807e+12
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",modelName="NVIDIA A100-SXM4-40GB"} 37
DCGM_FI_DEV_GPU_UTIL{gpu="1",modelName="NVIDIA A100-SXM4-40GB"} 63
"""


@contextmanager
def prometheus(*, password: bool = False) -> Iterator[Watched]:
    """Both running, and the first scrapes there. Skips where the packages are not."""
    binaries = {name: shutil.which(name) for name in ("prometheus", "prometheus-node-exporter")}
    missing = [name for name, path in binaries.items() if path is None]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not installed: apt-get install {' '.join(missing)}")
    with tempfile.TemporaryDirectory(prefix="gp-prom-") as folder, ExitStack() as ends:
        exporter, server = _free_port(), _free_port()
        words = [f"--web.listen-address=127.0.0.1:{exporter}", "--log.level=error"]
        (Path(folder) / "recorded").mkdir()
        (Path(folder) / "recorded" / "devices.prom").write_text(RECORDED)
        words.append(f"--collector.textfile.directory={folder}/recorded")
        _start(ends, [str(binaries["prometheus-node-exporter"]), *words])
        target = f"127.0.0.1:{exporter}"
        _start(ends, [str(binaries["prometheus"]), *_settings(Path(folder), target, server, password)])
        watched = Watched(f"http://127.0.0.1:{server}", target)
        _wait(urllib.request.Request(f"{watched.url}/api/v1/query?query=up", headers={"Authorization": AUTHORIZATION}))
        yield watched


def _settings(folder: Path, target: str, port: int, password: bool) -> list[str]:
    scrape = {"job_name": "node", "static_configs": [{"targets": [target]}]}
    config = {"global": {"scrape_interval": "1s"}, "scrape_configs": [scrape]}
    (folder / "prometheus.yml").write_text(json.dumps(config))
    words = [f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data", "--log.level=error"]
    if password:
        (folder / "web.yml").write_text(json.dumps({"basic_auth_users": {USER: _HASH}}))
        words.append(f"--web.config.file={folder}/web.yml")
    return [*words, f"--web.listen-address=127.0.0.1:{port}"]


def _start(ends: ExitStack, argv: list[str]) -> None:
    process = shell.start(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ends.callback(process.wait, timeout=20)
    ends.callback(process.terminate)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _wait(question: urllib.request.Request) -> None:
    until = time.monotonic() + 60
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < until:
        try:
            with opener.open(question, timeout=5) as answer:
                if json.load(answer)["data"]["result"]:
                    return
        except OSError:
            pass
        time.sleep(0.1)
    raise TimeoutError(f"{question.full_url} was not ready in a minute")
