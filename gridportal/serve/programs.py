"""The command lines of web server, worker and beat: the same on this machine and in a container."""

from __future__ import annotations

WEB_THREADS = 8  # of each process of the web server; each keeps a connection to the database
WEB_WORKER = "gridportal.serve.web_worker.Worker"
ACCESS_LOG = "gridportal.serve.access_log.AccessLog"


def web(
    bind: str, *, workers: int, access_log: str = "-", threads: int = WEB_THREADS, is_supervised: bool = False
) -> list[str]:
    """gunicorn with threads; at most `workers * threads` requests at once.

    gunicorn itself ends workers whose loop stood still for two minutes, however little of a processor they got; where
    a supervisor of ours judges them by their progress it does not.

    Without a control socket: gunicorn's lies in the home of the user, where the next portal would take it over.
    """
    argv = f"gunicorn gridportal.wsgi --bind {bind} --worker-class {WEB_WORKER} --workers {workers} --threads {threads}"
    timeout = "0" if is_supervised else "120"
    return [
        *argv.split(),
        "--no-control-socket",
        "--timeout",
        timeout,
        "--graceful-timeout",
        "5",
        "--access-logfile",
        access_log,
        "--logger-class",
        ACCESS_LOG,
    ]


def worker(threads: int = 4) -> list[str]:
    """Celery's worker with threads: tasks wait for other programs most of the time."""
    return ["celery", "-A", "gridportal.celery", "worker", "-P", "threads", "-c", str(threads), "--without-gossip"]


def beat() -> list[str]:
    """Celery's beat, one per portal. Its schedule is code with short intervals: nothing is kept over restarts."""
    return [
        "celery",
        "-A",
        "gridportal.celery_beat",
        "beat",
        "-S",
        "gridportal.web.celery_heartbeat.Scheduler",
        "--enable-remote-control",
    ]
