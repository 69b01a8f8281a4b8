import django.db.models.deletion
from django.db import migrations, models

from scheduling.migrations._quick_columns import AddQuickField


class Migration(migrations.Migration):

    dependencies = [
        ('scheduling', '0058_budgets_reports_and_logs'),
    ]

    operations = [
        AddQuickField(
            model_name='job',
            name='after',
            field=models.JSONField(blank=True, default=list, help_text='Numbers of jobs that have to end before it starts.'),
        ),
        AddQuickField(
            model_name='job',
            name='after_ok',
            field=models.JSONField(blank=True, default=list, help_text='Numbers of jobs that have to succeed before it starts.'),
        ),
        AddQuickField(
            model_name='job',
            name='held_back',
            field=models.BooleanField(default=False, help_text='It waits for other jobs, not for nodes: the line of its cluster goes past it.'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('held_back', True)), fields=['id'], name='job_held_back'),
        ),
        migrations.CreateModel(
            name='JobDependency',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('only_ok', models.BooleanField(default=False, help_text='It has to succeed; else it only has to end.')),
                ('job', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='dependencies', to='scheduling.job')),
                ('on', models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name='followers', to='scheduling.job')),
            ],
            options={
                'ordering': ('on_id',),
                'constraints': [models.UniqueConstraint(fields=('job', 'on'), name='job_follows_another_once'), models.CheckConstraint(condition=models.Q(('on__lt', models.F('job'))), name='job_follows_older_ones')],
            },
        ),
    ]
