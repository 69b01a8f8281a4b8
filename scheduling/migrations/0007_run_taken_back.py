"""A run that the portal takes back from the queue of its cluster, to choose other nodes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scheduling", "0006_skeletons"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="taken_back",
            field=models.BooleanField(default=False, help_text="The portal takes it back, to choose other nodes."),
        ),
    ]
