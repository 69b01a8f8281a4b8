"""Experiments are an app of their own now, which has taken over their table."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0001_initial"),
        ("scheduling", "0018_reasons_as_values"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(state_operations=[migrations.DeleteModel(name="Experiment")]),
    ]
