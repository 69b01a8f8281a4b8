"""The clusters that the portal submits to, from the setting GRIDPORTAL_CLUSTERS: JSON, or @ and a file of JSON.

Unset, there is one: the emulated Grid, called grid. The first of several is the one that forms begin with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from gridportal.base.errors import InputError
from gridportal.base.prometheus_setting import Prometheus
from gridportal.base.traits import TRAITS, Traits

Busy = Literal["wait", "again", "next"]
#: What to do when the chosen nodes are busy, in words.
BUSY: dict[str, str] = {
    "wait": "wait until these nodes are free",
    "again": "use other free nodes",
    "next": "take the next candidate group that is free",
}
USER_NAME = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
_USER = "{user}"
_NODE = "{node}"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Cluster(BaseModel):
    """One cluster. `prefix` stands before Slurm's commands: ["ssh", "login"], or with {user} for the name of the
    person who submitted: ["sudo", "-n", "-u", "{user}"]. `read_prefix` is for questions; unset: `prefix` without a
    {user}, else none. `capacity` (bit/s) is what links have that tell no speed. Times in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(description="What people call it.")
    backend: str = Field(description="What it is: grid, slurm or local.")
    state_dir: Path | None = Field(None, description="Of an emulated Grid, or of jobs here; with slurm, of its Grid.")
    prefix: tuple[str, ...] = Field((), description="Words before Slurm's commands; {user} is who submits.")
    read_prefix: tuple[str, ...] | None = Field(
        None, description="The same for questions. Unset: prefix without {user}."
    )
    slurm_conf: str = Field("", description="SLURM_CONF for the commands; unset: as in the portal's environment.")
    topology: Path | None = Field(None, description="topology.conf, ibnetdiscover or JSON; unset: what Slurm tells.")
    capacity: float = Field(1e9, gt=0, description="Bit/s of links that tell no speed.")
    prometheus: Prometheus | None = Field(None, description="A Prometheus that watches the nodes; at least its url.")
    probe: Literal["", "grid", "agents"] = Field(
        "", description="Who measures the network. grid: the emulated Grid in state_dir; agents: those of the nodes."
    )
    agents: str = Field("", description="HOST:PORT or unix:PATH of the nodes' agents, with {node} for the name.")
    agent_key: Path | None = Field(None, description="File with the key that the agents share, mode 600.")
    depots: str = Field("", description="HOST:PORT of the depots beside the agents, with {node} for the name.")
    checkpoints: Literal["", "depots", "both", "folder"] = Field(
        "", description="Where checkpoints of SRS are: in depots, in the job's folder, or in both. Unset: in depots."
    )
    depot_copies: int = Field(1, ge=1, le=2, description="2: each shard is in a second depot, too.")
    busy: Busy | None = Field(None, description="Default when nodes are busy. Unset: again on a Grid, wait on Slurm.")
    partition: str = Field("", description="For jobs that name none.")
    account: str = Field("", description="For jobs that name none.")
    qos: str = Field("", description="For jobs that name none.")
    requeue: bool = Field(True, description="Whether Slurm may start a job again after a node failed.")
    environment: dict[str, str] = Field(default_factory=dict, description="Variables for every job of the cluster.")
    modules: tuple[str, ...] = Field((), description="Modules loaded before every job's own.")
    launcher: tuple[str, ...] = Field((), description="How programs without a launcher of their own are started.")
    python: str = Field("", description="The Python on its nodes with gridportal[runtime]; unset: the portal's own.")
    container: tuple[str, ...] = Field((), description="Words before every program on its nodes, behind the launcher.")
    timeout: float = Field(20.0, gt=0, le=120, description="How long one of Slurm's commands may take.")
    slots: int | None = Field(
        None, ge=1, le=4096, description="How many ranks may run at a time on this machine; unset: one per processor."
    )
    share_nodes: bool | None = Field(
        None,
        description="Whether several jobs may be on a node, each with cpus of its own. Unset: one of the portal's at a "
        "time, and Slurm goes by its own settings; false: Slurm is asked for whole nodes.",
    )
    runs: Path | None = Field(None, description="Where run directories are made; its nodes must share it.")

    @field_validator("name")
    @classmethod
    def _plain(cls, value: str) -> str:
        if not _NAME.fullmatch(value):
            raise ValueError("a name is up to 60 small letters, digits, - and _")
        return value

    @field_validator("backend")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in TRAITS:
            raise ValueError("one of " + ", ".join(TRAITS))
        return value

    @field_validator("state_dir", "topology", "runs", "agent_key", mode="after")
    @classmethod
    def _absolute(cls, value: Path | None) -> Path | None:
        return value.expanduser().resolve() if value else value

    @field_validator("python")
    @classmethod
    def _program(cls, value: str) -> str:
        if value and not (value.startswith("/") and value.isprintable()):
            raise ValueError("the whole path of a Python, as /opt/gridportal/bin/python")
        return value

    @field_validator("prefix", "read_prefix")
    @classmethod
    def _one_hop(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        hops = [word for word in value or () if word.rpartition("/")[2] == "ssh"]
        if len(hops) > 1:
            raise ValueError("ssh once; for a host behind another use its option -J")
        if value and (value[0].startswith("-") or _USER in value[0]):
            raise ValueError("the name of a program as its first word")
        return value

    @field_validator("prefix", "read_prefix", "launcher", "container")
    @classmethod
    def _printable_arguments(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if any(not word or not word.isprintable() for word in value or ()):
            raise ValueError("each word is printable and not empty")
        return value

    @field_validator("environment")
    @classmethod
    def _variables(cls, value: dict[str, str]) -> dict[str, str]:
        if any(not _VARIABLE.fullmatch(name) or not text.isprintable() for name, text in value.items()):
            raise ValueError("variables are letters, digits and _, their values one printable line")
        return value

    @model_validator(mode="after")
    def _agree(self) -> Cluster:
        if self.probe == "grid" and self.state_dir is None:
            raise ValueError("probe grid needs the state_dir of the emulated Grid")
        if self.agents and (_NODE not in self.agents or self.agent_key is None):
            raise ValueError("agents has a {node} for the node's name, and agent_key names the file with their key")
        if self.probe == "agents" and not self.agents and not self.traits.part_of_portal:
            raise ValueError("probe agents needs agents, where they are, as in {node}:7780")
        if self.depots and (_NODE not in self.depots or not self.agents):
            raise ValueError(
                "depots has a {node} for the node's name, and agents says where the agents beside them are"
            )
        if self.slots is not None and not self.traits.has_slots:
            raise ValueError("slots are for a cluster that is this machine")
        if self.share_nodes and self.traits.has_slots:
            raise ValueError("share_nodes is for a cluster whose nodes have several cpus")
        if any(_USER in word for word in self.read_prefix or ()):
            raise ValueError("read_prefix asks for everybody's jobs, so it has no {user}")
        return self

    @property
    def traits(self) -> Traits:
        """What is true of all clusters with its backend."""
        return TRAITS[self.backend]

    @property
    def is_swept(self) -> bool:
        """Whether the portal itself has transfers sent over its network: only an emulated Grid takes such orders."""
        return self.probe == "grid" or self.traits.part_of_portal

    @property
    def busy_default(self) -> Busy:
        """What is done about busy nodes when a job does not say."""
        return self.busy or ("wait" if self.traits.has_queue else "again")

    @property
    def as_person(self) -> bool:
        """Whether jobs run as the person who submitted."""
        return any(_USER in word for word in self.prefix)

    def prefix_for(self, user: str) -> tuple[str, ...]:
        """The words before a command that acts for `user`. Raises InputError for a name that is no plain user's.

        >>> c = Cluster(name="hpc", backend="slurm", prefix=("sudo", "-n", "-u", "{user}"))
        >>> c.prefix_for("ann")
        ('sudo', '-n', '-u', 'ann')
        """
        if not self.as_person:
            return self.prefix
        return tuple(word.replace(_USER, account(user)) for word in self.prefix)

    @property
    def asking_prefix(self) -> tuple[str, ...]:
        """The words before a command that only asks."""
        if self.read_prefix is not None:
            return self.read_prefix
        return () if self.as_person else self.prefix


def account(user: str) -> str:
    """`user` as the name of an account on the cluster. Raises InputError; root's jobs are nobody's to submit.

    >>> account("ann_b-2")
    'ann_b-2'
    """
    if not USER_NAME.fullmatch(user) or user == "root":
        raise InputError("user name", user, "small letters, digits, _ and -, at most 32, and not root")
    return user


def parse(text: str) -> dict[str, Cluster]:
    """The clusters by name, in their order. Raises InputError in one sentence that names the cluster and the field.

    >>> list(parse('[{"name": "hpc", "backend": "slurm"}, {"name": "grid", "backend": "grid"}]'))
    ['hpc', 'grid']
    """
    if not text.strip():
        return {"grid": Cluster(name="grid", backend="grid")}
    document = _document(text.strip())
    if not isinstance(document, list) or not document:
        raise InputError("GRIDPORTAL_CLUSTERS", text[:60], "a JSON list of clusters, each with name and backend")
    found: dict[str, Cluster] = {}
    for at, raw in enumerate(document):
        cluster = _cluster(raw, at)
        if cluster.name in found:
            raise InputError(f"GRIDPORTAL_CLUSTERS[{at}].name", cluster.name, "a name that no other cluster has")
        found[cluster.name] = cluster
    return found


def _document(text: str) -> Any:
    source = text
    if text.startswith("@"):
        try:
            source = Path(text[1:]).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError("GRIDPORTAL_CLUSTERS", text, f"@ and a file that can be read ({error})") from error
    try:
        return json.loads(source)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}: {error.msg}"
        raise InputError("GRIDPORTAL_CLUSTERS", text[:60], f"JSON ({where})") from error


def _cluster(raw: Any, at: int) -> Cluster:
    if not isinstance(raw, Mapping):
        raise InputError(f"GRIDPORTAL_CLUSTERS[{at}]", raw, 'an object such as {"name": "hpc", "backend": "slurm"}')
    try:
        return Cluster.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(["", *map(str, first["loc"])])
        message = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
        value = first["input"] if first["loc"] else raw.get("name")
        raise InputError(f"GRIDPORTAL_CLUSTERS[{at}]{where}", value, message[:1].lower() + message[1:]) from error
