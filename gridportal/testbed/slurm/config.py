"""The text of slurm.conf, gres.conf and slurmdbd.conf for a Grid: pure functions of its layout.

A Slurm for trying things out: every period is short, every node is of the partition `grid`, and a second and a third
partition (`short`, with a time limit; `urgent`, which takes nodes away from the others) give forms something to choose.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gridportal.base.errors import InputError
from gridportal.network.topology import Node
from gridportal.testbed.layout import Layout
from gridportal.testbed.node_sizes import size_of
from gridportal.testbed.slurm.switches import TOP, topology_conf

#: Where the files of a Grid's Slurm are seen inside the Grid: short enough for any Unix socket, and Slurm's default.
HOME = "/etc/slurm"
CONTROLLER = "fabric"
#: The one address of the fabric, where slurmctld and slurmdbd listen; nodes have theirs in 10.77.
CONTROL_ADDRESS = "10.78.0.1"
_CPUS = 4
_MEMORY = 1000 * 2**20
_AMOUNTS = ("cpus", "memory", "mem_gb", "gres", "role", "label")
_FEATURE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")

_CONF = f"""\
ClusterName=grid
SlurmctldHost={CONTROLLER}({CONTROL_ADDRESS})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={HOME}/munge.sock
CredType=cred/munge
StateSaveLocation={HOME}/state
SlurmdSpoolDir={HOME}/spool-%n
SlurmctldPidFile={HOME}/slurmctld.pid
SlurmdPidFile={HOME}/slurmd-%n.pid
SlurmctldLogFile={HOME}/slurmctld.log
SlurmdLogFile={HOME}/slurmd-%n.log
TaskProlog={HOME}/task-prolog
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=pmi2
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0,bf_interval=1,bf_resolution=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=1
ReturnToService=2
TreeWidth=65533
SlurmctldTimeout=10
SlurmdTimeout=10
MessageTimeout=4
BatchStartTimeout=20
KillWait=2
CompleteWait=0
"""

_PARTITIONS = """\
PartitionName=grid Nodes=ALL Default=YES DefaultTime=60 MaxTime=1440 State=UP
PartitionName=short Nodes=ALL DefaultTime=2 MaxTime=5 State=UP
PartitionName=urgent Nodes=ALL DefaultTime=10 MaxTime=60 PriorityTier=10 PreemptMode=OFF State=UP
"""

_ACCOUNTS = f"""\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost={CONTROL_ADDRESS}
AccountingStoragePass={HOME}/munge.sock
AccountingStoreFlags=job_comment
AccountingStorageEnforce=associations,limits,qos
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=2
JobAcctGatherParams=OverMemoryKill
"""

_DBD = f"""\
DbdHost={CONTROLLER}
DbdAddr={CONTROL_ADDRESS}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={HOME}/munge.sock
LogFile={HOME}/slurmdbd.log
PidFile={HOME}/slurmdbd.pid
CommitDelay=1
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StorageUser=root
StoragePass=none
StorageLoc=slurm_accounts
"""


@dataclass(frozen=True, slots=True)
class SlurmSettings:
    """What may differ between two Slurms on the same Grid.

    `first_job_id`: ids go on from there, so that a later Slurm does not give them again (a portal remembers them).
    `min_job_age`: seconds that Slurm itself remembers an ended job.
    """

    accounting: bool = False
    first_job_id: int = 1
    min_job_age: int = 60


def slurm_conf(layout: Layout, settings: SlurmSettings) -> str:
    """The slurm.conf. InputError for a label of a node that Slurm cannot take."""
    nodes = layout.topology.compute_nodes()
    if any(node.id == CONTROLLER for node in nodes):
        raise InputError("node id", CONTROLLER, "another name: with Slurm it is slurmctld's host")
    plugin = "topology/tree" if topology_conf(layout) else "topology/none"
    lines = [f"TopologyPlugin={plugin}", f"FirstJobId={settings.first_job_id}", f"MinJobAge={settings.min_job_age}"]
    if kinds := sorted({node.labels["gres"].split(":")[0] for node in nodes if node.labels.get("gres")}):
        lines.append(f"GresTypes={','.join(kinds)}")
    if any(node.id == TOP for node in layout.topology.nodes):
        raise InputError("node id", TOP, "another name: with Slurm it is the switch above all others")
    lines += [_node_line(node, layout.addresses[node.id]) for node in nodes]
    return _CONF + (_ACCOUNTS if settings.accounting else "") + "\n".join(lines) + "\n" + _PARTITIONS


def gres_conf(layout: Layout) -> str:
    """The gres.conf: things that no device stands behind, counted by files of their name (label `gres`: `gpu:2`)."""
    lines = []
    for node in layout.topology.compute_nodes():
        if node.labels.get("gres"):
            name, count = _gres(node)
            lines.append(f"NodeName={node.id} Name={name} File={HOME}/gres/{name}[0-{count - 1}]\n")
    return "".join(lines)


def gres_files(layout: Layout) -> set[str]:
    """The names of the files that gres.conf counts."""
    found = [_gres(node) for node in layout.topology.compute_nodes() if node.labels.get("gres")]
    return {f"{name}{number}" for name, count in found for number in range(count)}


def slurmdbd_conf() -> str:
    """The slurmdbd.conf, before a database that only the Grid can reach."""
    return _DBD


def features(node: Node) -> list[str]:
    """A node's labels as Slurm's features: the value of each, after the label's name where it begins with no letter.

    >>> features(Node("n1", labels={"site": "utk", "rack": "7", "memory": "1e9", "owner": "a b"}))
    ['utk', 'rack_7']
    """
    names = [v if v[:1].isalpha() else f"{k}_{v}" for k, v in node.labels.items() if k not in _AMOUNTS]
    return [word for word in names if _FEATURE.fullmatch(word)]


def _node_line(node: Node, address: str) -> str:
    memory = max(1, round(_amount(node, "memory", size_of(node).memory or _MEMORY) / 2**20))
    cpus = round(_amount(node, "cpus", _CPUS))
    line = f"NodeName={node.id} NodeHostname={node.id} NodeAddr={address} CPUs={cpus} RealMemory={memory}"
    line += " State=UNKNOWN"
    if node.labels.get("gres"):
        line += " Gres={}:{}".format(*_gres(node))
    return line + (f" Feature={','.join(found)}" if (found := features(node)) else "")


def _gres(node: Node) -> tuple[str, int]:
    name, _, count = node.labels["gres"].partition(":")
    if not _FEATURE.fullmatch(name) or not re.fullmatch("[1-9][0-9]{0,2}", count or "1"):
        raise InputError(f"gres of {node.id}", node.labels["gres"], "a name and a number, as gpu:2")
    return name, int(count or "1")


def _amount(node: Node, label: str, otherwise: float) -> float:
    text = node.labels.get(label)
    try:
        found = otherwise if text is None else float(text)
    except ValueError:
        found = 0.0
    if not 1 <= found < 2**60:
        raise InputError(f"{label} of {node.id}", text, "a number from 1" + (" (bytes)" if label == "memory" else ""))
    return found
