"""The command lines of web server, worker and beat: the same on this machine and in a container."""

from __future__ import annotations

WEB_THREADS = 8  # of each process of the web server; each keeps a connection to the database


def web(bind: str, *, workers: int, access_log: str = "-", threads: int = WEB_THREADS) -> list[str]:
    """gunicorn with threads; at most `workers * threads` requests at once."""
    words = f"gunicorn gridportal.wsgi --bind {bind} --worker-class gthread --workers {workers} --threads {threads}"
    return [*words.split(), "--graceful-timeout", "5", "--access-logfile", access_log]


def worker(threads: int = 4) -> list[str]:
    """Celery's worker with threads: tasks wait for other programs most of the time."""
    return ["celery", "-A", "gridportal.celery", "worker", "-P", "threads", "-c", str(threads), "--without-gossip"]


def beat() -> list[str]:
    """Celery's beat, one per portal. Its schedule is code with short intervals: nothing is kept over restarts."""
    return ["celery", "-A", "gridportal.celery", "beat", "-S", "celery.beat.Scheduler", "--enable-remote-control"]
