"""Tokens without an end get one, where the setting permits none: as if they had been made today."""

from datetime import timedelta

from django.conf import settings
from django.db import migrations
from django.utils import timezone


def give_an_end(apps, schema_editor):
    if settings.PORTAL.token_days:
        tokens = apps.get_model("accounts", "ApiToken").objects.using(schema_editor.connection.alias)
        tokens.filter(expires_at=None).update(expires_at=timezone.now() + timedelta(days=settings.PORTAL.token_days))


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_trail")]

    operations = [migrations.RunPython(give_an_end, migrations.RunPython.noop)]
