"""How a cluster's Prometheus is asked: part of GRIDPORTAL_CLUSTERS."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

_BY, _BY_DEVICE = "by (instance)", "by (instance, device)"
_PROCESSORS = f'count {_BY} (node_cpu_seconds_total{{mode="idle"}})'
_OUTSIDE = '{device!~"lo|docker.*|veth.*|br-.*"}'
#: Metric of ours: question in PromQL about what node_exporter tells. $window is the setting of that name.
QUERIES: dict[str, str] = {
    "cpu": f"1 / (1 + max {_BY} (node_load1) / {_PROCESSORS})",
    "load": f"max {_BY} (node_load1) / {_PROCESSORS}",
    "memory_free": f"max {_BY} (node_memory_MemAvailable_bytes)",
    "memory_total": f"max {_BY} (node_memory_MemTotal_bytes)",
    "disk_free": f'max {_BY} (node_filesystem_avail_bytes{{mountpoint="/"}})',
    "tx": f"8 * rate(node_network_transmit_bytes_total{_OUTSIDE}[$window])",
    "rx": f"8 * rate(node_network_receive_bytes_total{_OUTSIDE}[$window])",
    "ib_tx": f"8 * sum {_BY_DEVICE} (rate(node_infiniband_port_data_transmitted_bytes_total[$window]))",
    "ib_rx": f"8 * sum {_BY_DEVICE} (rate(node_infiniband_port_data_received_bytes_total[$window]))",
    "gpu": f"avg {_BY} (DCGM_FI_DEV_GPU_UTIL) / 100",  # of NVIDIA's dcgm-exporter
}
_METRIC = re.compile(r"[a-z][a-z0-9_]{0,29}")


class Prometheus(BaseModel):
    """Where it is, what it is asked, and which node an answer is about. Times in seconds.

    The node is what `nodes` has for the label `node_label`, else the first group of `node_pattern` in it: by default
    the host name up to the first dot or colon, or the IPv4 address. With the label `interface_label` the answer is
    about that interface of the node.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str = Field(description="For instance http://127.0.0.1:9090.")
    authorization: str = Field("", description="Environment variable that holds the header Authorization.")
    queries: dict[str, str] = Field(default_factory=dict, description='PromQL by metric; "" leaves one out.')
    node_label: str = "instance"
    node_pattern: str = r"(\d+(?:\.\d+){3}|[^.:]+)"
    nodes: dict[str, str] = Field(default_factory=dict, description="Node by value of the label.")
    interface_label: str = "device"
    window: int = Field(120, gt=0, description="Over how long rates are taken; at least two scrapes.")
    step: int = Field(30, gt=0, description="Between the values that are asked for afterwards.")
    backfill: float = Field(3600, ge=0, le=86400, description="How far back missing values are asked for.")
    timeout: float = Field(10, gt=0, le=60)

    @field_validator("url")
    @classmethod
    def _address(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise ValueError("an address such as http://127.0.0.1:9090, without a password in it")
        return value.rstrip("/")

    @field_validator("queries")
    @classmethod
    def _metrics(cls, value: dict[str, str]) -> dict[str, str]:
        if any(not _METRIC.fullmatch(metric) for metric in value):
            raise ValueError("a metric's name is small letters, digits and _, up to 30")
        return value

    @field_validator("node_pattern")
    @classmethod
    def _pattern(cls, value: str) -> str:
        try:
            groups = re.compile(value).groups
        except re.error as error:
            raise ValueError(f"a regular expression ({error})") from error
        if groups < 1:
            raise ValueError("a regular expression with a group that is the node's name")
        return value

    @property
    def questions(self) -> dict[str, str]:
        """The question for each metric, ready to be asked.

        >>> Prometheus(url="http://p:9090", queries={"tx": "rate(x[$window])", "rx": ""}).questions["tx"]
        'rate(x[120s])'
        """
        asked = {metric: query for metric, query in (QUERIES | self.queries).items() if query.strip()}
        return {metric: query.replace("$window", f"{self.window}s") for metric, query in asked.items()}

    def node(self, label: str) -> str:
        """The node that a label's value means; empty where none.

        >>> asked = Prometheus(url="http://p:9090", nodes={"10.0.0.9:9100": "login"})
        >>> asked.node("n1.example:9100"), asked.node("10.0.0.3:9100"), asked.node("10.0.0.9:9100")
        ('n1', '10.0.0.3', 'login')
        """
        if label in self.nodes:
            return self.nodes[label]
        match = re.match(self.node_pattern, label)
        return (match.group(1) or "") if match else ""
