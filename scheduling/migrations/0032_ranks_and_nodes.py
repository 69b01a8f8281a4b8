"""Ranks and nodes apart. Each job that there is has one rank on each of its nodes; one statement says so of all."""

from django.db import migrations, models
from django.db.models import F, Q

from scheduling.migrations._quick_columns import AddQuickField


def one_rank_a_node(apps, schema_editor):
    """The number of ranks of every job."""
    apps.get_model("scheduling", "Job").objects.using(schema_editor.connection.alias).update(ranks=F("node_count"))


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0031_compared_trials")]

    operations = [
        AddQuickField(
            "job",
            "ranks",
            models.PositiveIntegerField(default=1, help_text="Ranks of the program; a node may have several."),
            preserve_default=False,
        ),
        AddQuickField(
            "job",
            "nodes_open",
            models.BooleanField(default=False, help_text="The selection decides how many nodes."),
        ),
        migrations.AddField(
            "job",
            "ranks_per_node",
            models.PositiveIntegerField(null=True, blank=True, help_text="At most; empty: open."),
        ),
        AddQuickField(
            "job", "cpus_per_rank", models.PositiveIntegerField(default=1, help_text="Threads of each rank.")
        ),
        migrations.AddField(
            "job",
            "memory_per_rank",
            models.PositiveIntegerField(null=True, blank=True, help_text="MB; empty: not limited."),
        ),
        AddQuickField(
            "job", "gres_per_rank", models.CharField(max_length=200, blank=True, help_text="Such as gpu:1.")
        ),
        migrations.AlterField(
            "job",
            "node_count",
            models.PositiveIntegerField(
                help_text="Nodes asked for; where the selection decides, the least number, and once it has, the "
                "number chosen."
            ),
        ),
        migrations.RunPython(one_rank_a_node, migrations.RunPython.noop),
        migrations.AddConstraint(
            "job", models.CheckConstraint(condition=Q(ranks__gte=F("node_count")), name="job_node_has_a_rank")
        ),
    ]
