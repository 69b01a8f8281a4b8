from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0006_group_roles")]

    operations = [
        migrations.AddField(
            "user",
            "from_log",
            models.SlugField(
                blank=True,
                db_index=False,
                default="",
                db_default="",
                help_text="The log of jobs that named this person, who cannot sign in; empty for all others.",
                max_length=60,
            ),
        ),
    ]
