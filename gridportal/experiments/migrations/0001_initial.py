"""Experiments become an app of their own: their table stays where it is, with its rows and its name."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def take_over_content_type(apps, schema_editor):
    """Permissions that somebody was given stay theirs: the content type is renamed, not made anew."""
    _move(apps, schema_editor.connection.alias, "scheduling", "experiments")


def give_back_content_type(apps, schema_editor):
    _move(apps, schema_editor.connection.alias, "experiments", "scheduling")


def _move(apps, database, old, new):
    types = apps.get_model("contenttypes", "ContentType").objects.using(database).filter(model="experiment")
    if not types.filter(app_label=new).exists():
        types.filter(app_label=old).update(app_label=new)


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("contenttypes", "0002_remove_content_type_name"),
        ("scheduling", "0015_report_times"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="Experiment",
                    fields=[
                        ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                        ("name", models.CharField(max_length=40)),
                        ("seed", models.PositiveIntegerField(default=1)),
                        ("full", models.BooleanField(default=False)),
                        ("folder", models.CharField(max_length=400, unique=True)),
                        ("state", models.CharField(choices=[("queued", "queued"), ("running", "running"), ("stopping", "stopping"), ("stopped", "stopped"), ("done", "done"), ("failed", "failed")], default="queued", max_length=10)),
                        ("reason", models.TextField(blank=True)),
                        ("done", models.PositiveIntegerField(default=0)),
                        ("of", models.PositiveIntegerField(default=0)),
                        ("now", models.CharField(blank=True, help_text="The trial that it is at.", max_length=200)),
                        ("host", models.CharField(blank=True, max_length=200)),
                        ("heartbeat", models.DateTimeField(blank=True, null=True)),
                        ("restarts", models.PositiveSmallIntegerField(default=0, help_text="How often it was taken up after it had died.")),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("started_at", models.DateTimeField(blank=True, null=True)),
                        ("ended_at", models.DateTimeField(blank=True, null=True)),
                        ("result", models.JSONField(blank=True, null=True)),
                        ("started_by", models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                    ],
                    options={"db_table": "scheduling_experiment", "ordering": ("-pk",)},
                ),
            ],
        ),
        migrations.RunPython(take_over_content_type, give_back_content_type),
    ]
