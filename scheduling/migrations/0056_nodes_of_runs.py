"""On how many nodes each run is: a job that was moved may have had runs on several numbers of nodes.

Only rows that differ from their job are written, so this takes the time of reading the others. The sums of use are
forgotten, as 0023 does: beat counts all jobs anew within minutes, and reports read their runs until then.
"""

from importlib import import_module
from typing import Any

from django.db import migrations, models
from django.db.models import F

_BATCH = 2000
forget = import_module("scheduling.migrations.0023_use_by_state_and_method").forget


def count_nodes(apps: Any, _editor: Any) -> None:
    """Of each run and each run of a skeleton that had another number of nodes than its job has."""
    _count(apps.get_model("scheduling", "Run"), "placement__nodes")
    _count(apps.get_model("scheduling", "SkeletonRun"), "nodes")


def _count(model: Any, column: str) -> None:
    changed = []
    for pk, nodes, of_job in model.objects.order_by("pk").values_list("pk", column, "job__node_count").iterator(_BATCH):
        if nodes and len(set(nodes)) != of_job:
            changed.append(model(pk=pk, node_count=len(set(nodes))))
    model.objects.bulk_update(changed, ["node_count"], batch_size=_BATCH)


class Migration(migrations.Migration):

    dependencies = [("scheduling", "0055_projects")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="node_count",
            field=models.PositiveIntegerField(
                blank=True, help_text="On how many nodes it is; empty: on as many as its job.", null=True
            ),
        ),
        migrations.AddField(
            model_name="skeletonrun",
            name="node_count",
            field=models.PositiveIntegerField(
                blank=True, help_text="How many these are; empty: as many as its job has.", null=True
            ),
        ),
        migrations.RunPython(count_nodes, migrations.RunPython.noop),
        migrations.RunPython(forget, forget),
    ]
