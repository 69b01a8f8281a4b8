"""The form's fields for what a job may ask of a Slurm cluster, with the choices that the cluster offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from gridportal.base.clusters import BUSY, Cluster
from monitoring.clusters import selectors
from monitoring.clusters.core.offers import Offers, Partition, QosLimits
from scheduling.jobs.core import cluster_options
from scheduling.jobs.core.cluster_options import ClusterOptions
from scheduling.pages.size_field import SIZES, SizeField

MIB = 2**20
_LABELS = {
    "partition": "Partition",
    "account": "Account",
    "qos": "QOS",
    "reservation": "Reservation",
    "constraint": "Constraint",
    "gres": "GRES",
    "memory": "Memory on each node",
    "exclusive": "Nodes for itself alone",
}


def cluster_field() -> forms.ChoiceField:
    """Which cluster; shown when there are several."""
    configured = selectors.configured()
    return forms.ChoiceField(
        label="Cluster",
        required=False,
        choices=[(name, f"{name}, {found.traits.label}") for name, found in configured.items()],
        initial=selectors.default_cluster(),
    )


def busy_field() -> forms.ChoiceField:
    """What is done about busy nodes."""
    defaults = {BUSY[found.busy_default] for found in selectors.configured().values()}
    own = f"Here: {defaults.pop()}." if len(defaults) == 1 else ""
    choices = [("", "the cluster's default"), *BUSY.items()]
    return forms.ChoiceField(label="If nodes are busy", required=False, choices=choices, help_text=own)


def option_fields(cluster: Cluster, user: str = "") -> dict[str, forms.Field]:
    """The options of one cluster, by the name in the form: `hpc-partition`, ...; accounts and QOS are `user`'s own."""
    offers = selectors.offers(cluster.name)
    choices = cluster_options.choices(offers, user)
    own = {name: getattr(cluster, name) for name in ("partition", "account", "qos")}
    fields: dict[str, forms.Field] = {
        name: _text(name, choices[name], own.get(name, ""), _about(name, offers, user))
        for name in cluster_options.TEXTS
    }
    most = offers.get("memory")
    limit = f"At most {most // MIB} MB; empty: the partition's own." if most else "Empty: the partition's own."
    fields["memory"] = SizeField(_LABELS["memory"], 2**30, f"{SIZES} {limit}")
    fields["exclusive"] = forms.BooleanField(label=_LABELS["exclusive"], required=False)
    return {f"{cluster.name}-{name}": field for name, field in fields.items()}


def options(cluster: str, cleaned: Mapping[str, Any]) -> ClusterOptions:
    """The options that were filled in for this cluster. Raises InputError."""
    given = {name: cleaned.get(f"{cluster}-{name}") for name in cluster_options.NAMES}
    return ClusterOptions.read(given | ({"memory": given["memory"] * MIB} if given["memory"] else {}))


def initial(cluster: str, chosen: ClusterOptions) -> dict[str, Any]:
    """A job's options as first values of the form."""
    memory = chosen.memory // MIB if chosen.memory else None
    return {f"{cluster}-{name}": memory if name == "memory" else value for name, value in chosen.document().items()}


def _text(name: str, choices: list[str], own: str, about: str) -> forms.Field:
    """A list to choose from where the cluster says what there is, else a text."""
    label = _LABELS[name]
    if name in ("constraint", "gres"):
        help_text = f"{about} {'Known here: ' + ', '.join(choices[:12]) + '.' if choices else ''}".strip()
        return forms.CharField(label=label, required=False, max_length=200, help_text=help_text)
    if not choices:
        return forms.CharField(
            label=label, required=False, max_length=100, help_text=f"Empty: {own or 'your default'}. {about}".strip()
        )
    blank = ("", own or ("none" if name == "reservation" else "the cluster's default"))
    return forms.ChoiceField(label=label, required=False, choices=[blank, *((k, k) for k in choices)], help_text=about)


def _about(name: str, offers: Offers, user: str) -> str:
    if name == "constraint":
        return "Features that every node must have, such as ib&skylake."
    if name == "gres":
        return "On every node, such as gpu:2."
    if name == "qos":
        return _about_qos(offers, user)
    if name == "account":
        return str(offers.get("accounts_error", ""))
    if name != "partition":
        return ""
    rows = [f"{row['name']} {row['nodes']} nodes{_limit(row)}" for row in offers.get("partitions", [])[:8]]
    return f"{'; '.join(rows)}." if rows else ""


def _limit(row: Partition) -> str:
    most = row.get("max_time")
    return f", {most / 3600:g} h" if most else ""


def _about_qos(offers: Offers, user: str) -> str:
    """Which account may use which, where they differ, and what each allows."""
    mine = cluster_options.own_accounts(offers, user)
    usable = set(cluster_options.choices(offers, user)["qos"])
    differ = len({tuple(names) for names in mine.values()}) > 1
    parts = [f"{account}: {', '.join(names)}" for account, names in list(mine.items())[:8]] if differ else []
    parts += [f"{name} allows {_allows(row)}" for name, row in offers.get("qos_limits", {}).items() if name in usable]
    return f"{'; '.join(parts)}." if parts else ""


def _allows(row: QosLimits) -> str:
    most = row.get("max_time")
    parts = [f"{most / 3600:g} h"] if most else []
    parts += [f"{row['max_jobs']} jobs at once"] if row.get("max_jobs") else []
    parts += [f"{row['max_submitted']} in the queue"] if row.get("max_submitted") else []
    return ", ".join(parts)
