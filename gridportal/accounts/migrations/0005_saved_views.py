import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0004_tokens_expire")]

    operations = [
        migrations.CreateModel(
            name="SavedView",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("list", models.CharField(help_text="Which list it is of.", max_length=40)),
                ("name", models.CharField(max_length=60)),
                ("query", models.CharField(blank=True, max_length=2000)),
                ("is_default", models.BooleanField(default=False, help_text="The list begins with it.")),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "owner",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_views",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("list", "name"),
                "constraints": [
                    models.UniqueConstraint(fields=("owner", "list", "name"), name="saved_view_name_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("is_default", True)),
                        fields=("owner", "list"),
                        name="saved_view_one_default",
                    ),
                ],
            },
        ),
    ]
