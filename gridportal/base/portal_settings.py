"""Every setting of the portal, read from the environment (prefix GRIDPORTAL_) and failing loudly."""

from __future__ import annotations

import secrets
from email.utils import parseaddr
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import SettingsConfigDict, SettingsError

from gridportal.base import folders, log_limit, sign_in_settings
from gridportal.base.errors import InputError

SECRET = (
    *("secret_key", "database_url", "redis_url", "demo_password", "metrics_token"),
    *("mail_url", "webhook_secret", "webhook_tokens", *sign_in_settings.SECRET),
)
DATABASES = ("postgresql", "postgres")
BROKERS = ("redis", "rediss", "redis+socket", "unix")
MAIL = ("smtp", "smtp+starttls", "smtps")
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
BASE_DIR = Path(__file__).resolve().parents[2]


class PortalSettings(sign_in_settings.SignInSettings):
    """The portal's settings; those of signing in stand in `sign_in_settings.py`. Each is one environment variable;
    unset ones take the safe default.

    Raises InputError that names the variable.
    """

    model_config = SettingsConfigDict(env_prefix="GRIDPORTAL_", extra="ignore", allow_inf_nan=False)

    home: Path = Field(BASE_DIR / "var", description="Where the portal keeps its database, runs and sockets.")
    secret_key: str = Field("", description="Signs sessions. Unset: made once and kept in HOME/secret_key.")
    debug: bool = Field(False, description="Django's debug pages. Never in production.")
    allowed_hosts: str = Field("localhost,127.0.0.1,[::1]", description="Host names served, comma-separated.")
    trusted_origins: str = Field("", description="Origins for forms behind a proxy, e.g. https://portal.example.")
    secure_cookies: bool = Field(False, description="Cookies over HTTPS only; set it behind a TLS proxy.")
    database_url: str = Field(
        "",
        validation_alias="DATABASE_URL",
        description="postgresql:// URL. Unset: gridportal serve starts a PostgreSQL of its own, all else uses SQLite.",
    )
    redis_url: str = Field(
        "",
        validation_alias="REDIS_URL",
        description="redis:// URL. Unset: gridportal demo and serve start one of their own; else tasks go by files.",
    )
    clusters: str = Field("", description="JSON list of clusters, or @FILE. Unset: one emulated Grid called grid.")
    grid_dir: Path | None = Field(None, description="State directory of the emulated Grid. Unset: HOME/grid.")
    grid_first_uid: int | None = Field(
        None,
        ge=1000,
        le=2**31,
        description="Jobs on a Grid that root started run as this uid and the next ones. Unset: a range of its own.",
    )
    grid_users: dict[str, str] = Field({}, description='Or as accounts: JSON of owner and account, {"ann": "ann2"}.')
    grid_processes: int = Field(
        4096, ge=64, le=2**22, description="Processes that a Grid job's user may have, and that jobs may on one node."
    )
    grid_memory: int = Field(
        0, ge=0, description="Bytes of memory that jobs may take on one node of the Grid. 0: half of the machine's."
    )
    grid_open_files: int = Field(4096, ge=64, le=2**20, description="Open files of each process of a Grid job.")
    grid_memory_files: int = Field(2**30, ge=2**20, description="Bytes of a Grid job's /tmp, and of its /dev/shm.")
    grid_hide: tuple[str, ...] = Field((), description="JSON list of folders that are empty to jobs on the Grid.")
    grid_show: tuple[str, ...] = Field((), description="And of what they see below /tmp, HOME or another hidden one.")
    measure_max_age: float = Field(30.0, ge=0, description="Seconds after which a placement measures again.")
    measure_every: float = Field(60.0, gt=0, description="Seconds between measurements of an idle network.")
    collect_every: float = Field(30.0, gt=0, description="Seconds between questions to the sources of telemetry.")
    keep_raw: float = Field(172_800.0, gt=0, description="Seconds that every sample is kept; then means of minutes.")
    keep_minutes: float = Field(1_209_600.0, gt=0, description="Age in seconds at which these become means of hours.")
    keep_hours: float = Field(34_560_000.0, gt=0, description="Age in seconds at which these go.")
    probe_every: float = Field(60.0, gt=0, description="Seconds in which agents measure a pair of nodes at most once.")
    probe_size: int = Field(524_288, ge=1024, le=10**9, description="Bytes that one probe of a path sends at most.")
    probe_seconds: float = Field(0.12, gt=0, le=30, description="Seconds that one probe of a path sends at most.")
    probe_timeout: float = Field(10.0, gt=0, le=60, description="Seconds after which a probe has failed.")
    probe_share: float = Field(0.02, gt=0, le=1, description="Fraction of each link's capacity that probes may take.")
    agent_timeout: float = Field(5.0, gt=0, le=60, description="Seconds in which all agents of a cluster must answer.")
    clock_limit: float = Field(1.0, gt=0, description="Seconds by which a node's clock may differ without a warning.")
    poll_every: float = Field(1.0, gt=0, description="Seconds between polls of the backend.")
    lease_seconds: float = Field(30.0, gt=0, description="After how long others go on with what a dead worker was at.")
    overtaking_seconds: float = Field(
        600.0, ge=0, description="For how long jobs may overtake one that waits for nodes nobody has a time limit on."
    )
    submit_at_once: int = Field(4, ge=1, le=64, description="How many jobs are handed to a Slurm cluster at a time.")
    stop_grace: float = Field(
        30.0,
        gt=0,
        le=3600,
        description="Seconds between TERM and KILL for programs that can be stopped; two for others. Slurm: KillWait.",
    )
    output_limit: int = Field(
        log_limit.DEFAULT, ge=log_limit.LEAST, description="Bytes that a job's log may have; then its middle goes."
    )
    own_programs: Literal["isolated", "always", "never"] = Field(
        "isolated",
        description="Programs that users bring themselves: isolated, where jobs run as a user of their owner's own; "
        "always; never.",
    )
    time_budget: float = Field(5.0, gt=0, description="Seconds that one selection may search.")
    candidates_differ: int = Field(1, ge=1, description="In how many nodes the groups weighed for a job differ.")
    skeleton_auto: bool = Field(True, description="Build a skeleton by itself when a traced job has ended.")
    skeleton_share: float = Field(0.05, gt=0, le=1, description="Fraction of an application that its skeleton takes.")
    trial_seconds: float = Field(60.0, ge=0, description="Seconds that trying candidate groups may take. 0: never try.")
    trial_share: float = Field(0.1, gt=0, le=100, description="And no more than this fraction of the application.")
    choice_seconds: float = Field(
        900.0, ge=0, description="Seconds that a job keeps its tried groups for a person to take one by hand."
    )
    keep_checkpoints_days: float = Field(
        14.0, ge=0, description="Days for which the checkpoints of a job that did not succeed are kept after its end."
    )
    keep_decisions_days: float = Field(
        400.0, ge=1, description="Days for which decisions by which a job was not moved are kept after its end."
    )
    job_input_bytes: int = Field(10**8, ge=0, description="Bytes of input files that may come with one job.")
    person_input_bytes: int = Field(10**9, ge=0, description="Bytes that the input files of one person may take.")
    demo_password: str = Field("", description="Password of the demo's people. Unset: made once, HOME/demo_password.")
    metrics_token: str = Field("", description="Who may read /metrics. Unset: programs on this machine only.")
    refuse_after: float = Field(
        10.0, gt=0, description="Seconds that a request may wait for a thread; then it is told to come back later."
    )
    most_new_jobs: int = Field(
        500, ge=1, description="New jobs that workers have not looked at yet; then submissions are told to come later."
    )
    most_waiting_jobs: int = Field(100_000, ge=1, description="Jobs that wait for nodes; then the same.")
    submission_wait: float = Field(
        3.0, gt=0, description="Seconds that a submission over REST may wait for a thread; then the same."
    )
    writes_a_minute: int = Field(
        600,
        ge=1,
        description="Forms and changes over REST that one person may send in a minute; then 429 with Retry-After.",
    )
    token_days: int = Field(
        365, ge=0, le=3650, description="Days that an API token lasts at most. 0: tokens without an end are permitted."
    )
    public_url: str = Field("", description="The portal's own address for links in notices: https://portal.example")
    mail_url: str = Field(
        "", description="smtp://, smtp+starttls:// or smtps://USER:PASSWORD@HOST:PORT. Unset: no notices by e-mail."
    )
    mail_from: str = Field("gridportal@localhost", description="From whom notices by e-mail are.")
    webhook_secret: str = Field("", description="Signs notices by webhook (HMAC of SHA-256). Unset: no signature.")
    webhook_tokens: dict[str, str] = Field({}, description='Tokens of Matrix servers: {"matrix.example": "syt_..."}.')
    webhook_networks: tuple[str, ...] = Field(
        (), description='Private networks that webhooks may be in all the same: ["10.1.0.0/16"].'
    )
    log_level: str = Field("INFO", description="DEBUG, INFO, WARNING or ERROR.")

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise _refused(error) from error
        except SettingsError as error:  # it quotes the field whose JSON cannot be read
            field = str(error).partition('"')[2].partition('"')[0]
            raise InputError(variable(field), "...", "JSON, as its meaning shows") from error

    @field_validator("database_url", "redis_url", mode="after")
    @classmethod
    def _reachable(cls, value: str, info: ValidationInfo) -> str:
        accepted = DATABASES if info.field_name == "database_url" else BROKERS
        try:
            parts = urlsplit(value)
            is_accepted = parts.scheme in accepted and (parts.port is None or parts.port > 0)
        except ValueError:
            is_accepted = False
        if value and not is_accepted:
            raise ValueError("a URL that starts with " + " or ".join(f"{scheme}://" for scheme in accepted))
        return value

    @field_validator("mail_url", "public_url", mode="after")
    @classmethod
    def _sendable(cls, value: str, info: ValidationInfo) -> str:
        accepted = MAIL if info.field_name == "mail_url" else ("https", "http")
        try:
            parts = urlsplit(value)
            is_accepted = parts.scheme in accepted and bool(parts.hostname) and (parts.port is None or parts.port > 0)
        except ValueError:
            is_accepted = False
        if value and not is_accepted:
            raise ValueError("a URL that starts with " + " or ".join(f"{scheme}://" for scheme in accepted))
        return value.rstrip("/")

    @field_validator("mail_from", mode="after")
    @classmethod
    def _address(cls, value: str) -> str:
        if "@" not in parseaddr(value)[1] or not value.isprintable():
            raise ValueError("an e-mail address, such as portal@example.org")
        return value

    @field_validator("webhook_networks", mode="after")
    @classmethod
    def _networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        try:
            for each in value:
                ip_network(each)
        except ValueError as error:
            raise ValueError("networks such as 10.1.0.0/16") from error
        return value

    @field_validator("log_level", mode="after")
    @classmethod
    def _known_level(cls, value: str) -> str:
        if value.upper() not in LEVELS:
            raise ValueError("one of " + ", ".join(LEVELS))
        return value

    @field_validator("grid_memory", mode="after")
    @classmethod
    def _enough_to_start(cls, value: int) -> int:
        if 0 < value < 2**26:
            raise ValueError("0, or a whole number of bytes, at least 67108864")
        return value

    @field_validator("grid_hide", "grid_show", mode="after")
    @classmethod
    def _folders(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any(not Path(each).is_absolute() or Path(each) == Path("/") for each in value):
            raise ValueError("whole paths, but not /")
        return value

    @field_validator("home", "grid_dir", mode="after")
    @classmethod
    def _absolute(cls, value: Path | None) -> Path | None:
        if value is None:
            return None
        folders.check_links(value.expanduser().absolute())
        return value.expanduser().resolve()

    @property
    def grid_state_dir(self) -> Path:
        """Where the emulated Grid's socket and state are."""
        return self.grid_dir or self.home / "grid"

    def make_home(self) -> Path:
        """The home directory, made (mode 0700) where it is not there, and closed to others. InputError where it
        cannot be."""
        return folders.home(self.home)

    def signing_key(self) -> str:
        """The secret key: from the environment, else made once (mode 0600) in the home directory."""
        if self.secret_key:
            return self.secret_key
        path = self.make_home() / "secret_key"
        if not path.exists():
            fresh = path.with_name(f"secret_key.{secrets.token_hex(4)}")
            try:
                fresh.touch(mode=0o600)
                fresh.write_text(secrets.token_urlsafe(64), encoding="ascii")
                path.hardlink_to(fresh)
            except FileExistsError:
                pass
            finally:
                fresh.unlink(missing_ok=True)
        return path.read_text(encoding="ascii").strip()


def variable(name: str) -> str:
    """The environment variable of a setting.

    >>> variable("redis_url"), variable("home")
    ('REDIS_URL', 'GRIDPORTAL_HOME')
    """
    alias = PortalSettings.model_fields[name].validation_alias
    return alias if isinstance(alias, str) else f"{PortalSettings.model_config.get('env_prefix', '')}{name}".upper()


def _refused(error: ValidationError) -> InputError:
    """The first thing that is wrong, by the variable's name; of what may hold a password only the scheme."""
    first = error.errors()[0]
    place = str(first["loc"][0])
    name = next((name for name in PortalSettings.model_fields if place in (name, variable(name))), "")
    value = first["input"]
    if name in SECRET:
        scheme, colon, _ = str(value).partition("://")
        value = f"{scheme}://..." if colon else "..."
    accepted = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ").partition(", unable")[0]
    return InputError(variable(name) if name else place, value, accepted)
