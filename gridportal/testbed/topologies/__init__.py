"""The topologies that ship with the Grid, found by name.

cactus: Set matching 2002, 5: torc1, 3, 5 and 6 at Tennessee (547 MHz, two processors each), mystere, o, saltimbanco
(400 MHz), dralion (450) and cirque (500) in San Diego, and cmajor at Illinois (266 MHz), 100 Mbit/s in each site.
Speeds are in parts of the fastest, labels `mhz` and `cpus` say the rest. The paper gives no figure for the Internet
between the sites: 20 Mbit/s here.

crossbar10: Pattern 2003, 3.1: ten nodes on a full crossbar; each ordered pair has a path of its own of 100 Mbit/s.

cmu8: Selection 1999, figure 4: m-1..m-8, routers panama, suez and gibraltar, 100 Mbit/s links and 155 Mbit/s between
gibraltar and suez. The text does not say which hosts hang on which router; here m-1..m-3 are on panama, m-4..m-6 on
gibraltar and m-7, m-8 on suez. Traffic from m-6 to m-8 then fills m-6 - gibraltar - suez - m-8, and four free nodes
remain on panama and gibraltar, as in the figure.

grads: Migration 2003, table II, half of each cluster: msc1..msc4 at Tennessee (933 MHz, 100 Mbit/s switched Ethernet)
and opus1..opus8 at Illinois (450 MHz, 1.28 Gbit/s Myrinet), so opus has a speed of 450/933. The paper gives no figure
for the Internet between them: 20 Mbit/s here, about what its redistribution times come to. Each node has one processor
here, since the relative speeds are those of whole nodes.

grads-whole: all of table II: msc1..msc8, which have two processors each, and opus1..opus16. Two jobs may share an msc
node, where their cluster lets them. grads keeps the 4 and 8 nodes of the paper's experiments (8.1), whose figures here
were measured on it; on one machine 24 nodes have half as much of a processor each.

smp6: for several ranks a node: two racks, each with two nodes of two processors (100 Mbit/s) and one of four (200
Mbit/s), and 100 Mbit/s between the racks.
"""

from __future__ import annotations

from pathlib import Path

from gridportal.base import bounded_json
from gridportal.base.errors import InputError
from gridportal.network import topology_files
from gridportal.testbed.layout import plan

_FOLDER = Path(__file__).parent


def names() -> list[str]:
    """The names of the topologies that ship.

    >>> names()
    ['cactus', 'cmu8', 'crossbar10', 'grads', 'grads-whole', 'smp6']
    """
    return sorted(path.stem for path in _FOLDER.glob("*.json"))


def find(name_or_path: str | Path, field: str = "topology") -> Path:
    """The file of a topology given by the name of one that ships or by a path."""
    shipped = _FOLDER / f"{name_or_path}.json"
    if str(name_or_path) in names():
        return shipped
    path = Path(name_or_path)
    if not bounded_json.is_there(path):
        raise InputError(field, str(name_or_path), f"a topology file or one of {', '.join(names())}")
    return path


def checked(name_or_path: str, nodes: int = 1, field: str = "topology") -> str:
    """The same topology, found from any folder and known to be one that a Grid can have. Raises InputError."""
    file = find(name_or_path, field).resolve()
    loaded = topology_files.load(file)
    plan(loaded)
    if len(loaded.compute_nodes()) < nodes:
        raise InputError(field, name_or_path, f"one with at least {nodes} compute nodes")
    return name_or_path if name_or_path in names() else str(file)
