from django.apps import AppConfig


class SchedulingConfig(AppConfig):
    name = "scheduling"

    def ready(self) -> None:
        """Make our Celery application the current one, so that `delay` in every process goes to our broker, and let
        monitoring, which knows nothing of this app, ask Slurm through it."""
        import gridportal.celery  # noqa: F401
        from monitoring.services import provide_slurm
        from scheduling.services.backends import Source

        provide_slurm(Source)
