"""Django settings. Nothing is decided here that `settings.py` can read from the environment."""

from __future__ import annotations

import atexit
import gc
import importlib.util
import os
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from gridportal.base import clusters, folders, metrics_folder
from gridportal.base.errors import InputError
from gridportal.base.portal_settings import BASE_DIR, PortalSettings
from gridportal.web import cache_setting, process_end

# Most of a portal is imported after this, a million objects that stay. By its own numbers Python would look at them
# again and again for what is garbage while it starts.
gc.set_threshold(20_000, 50, 20)
# And at its end once more: a process that ends needs no memory back, and this would be a quarter of all that it does.
atexit.register(process_end.end)

try:
    PORTAL = PortalSettings()
    PORTAL.make_home()
    CLUSTERS = clusters.parse(PORTAL.clusters)
    SECRET_KEY = PORTAL.signing_key()
except InputError as error:
    raise ImproperlyConfigured(str(error)) from error

os.environ[metrics_folder.VARIABLE] = str(metrics_folder.of(PORTAL.home))  # prometheus_client looks when it is imported

DEBUG = PORTAL.debug
ALLOWED_HOSTS = [host.strip() for host in PORTAL.allowed_hosts.split(",") if host.strip()]
CSRF_TRUSTED_ORIGINS = [origin.strip() for origin in PORTAL.trusted_origins.split(",") if origin.strip()]

INSTALLED_APPS = [
    "gridportal.accounts.apps.PortalAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.mfa",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "rules.apps.AutodiscoverRulesConfig",
    "gridportal.accounts",
    "monitoring",
    "scheduling",
    "gridportal.experiments",
]

MIDDLEWARE = [
    "gridportal.web.request_metrics.RequestMetricsMiddleware",
    "gridportal.web.unread_body.UnreadBodyMiddleware",
    "scheduling.pages.admission_middleware.AdmissionMiddleware",
    "gridportal.web.overload.OverloadMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "gridportal.web.middleware.RequestIdMiddleware",
    "gridportal.web.api_addresses.SlashMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "gridportal.web.middleware.NoStoreMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "gridportal.accounts.second_factor_middleware.SecondFactorMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "gridportal.web.middleware.ContentSecurityPolicyMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "gridportal.web.write_limit.WriteLimitMiddleware",
    "gridportal.web.refused_methods.RefusedMethodMiddleware",
]

ROOT_URLCONF = "gridportal.urls"
WSGI_APPLICATION = "gridportal.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "gridportal.serve.page_frame.shell",
            ],
            "builtins": [
                "gridportal.web.templatetags.units",
                "gridportal.web.templatetags.state_marks",
                "gridportal.web.templatetags.job_times",
                "gridportal.web.templatetags.page_links",
                "gridportal.web.templatetags.unbroken_text",
                "scheduling.templatetags.reasons",
                "scheduling.templatetags.rank_filters",
            ],
            "libraries": {"units": "gridportal.web.templatetags.units"},
        },
    }
]


#: Lists are counted and paged in indexes, which lie in memory; compiling a statement takes longer than it does.
_PLANNER = "-c random_page_cost=1.1 -c jit=off"


def _database(url: str) -> dict[str, Any]:
    if not url:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": PORTAL.home / "gridportal.sqlite3",
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
            },
        }
    parsed: dict[str, Any] = {**dj_database_url.parse(url, conn_max_age=60, conn_health_checks=True)}
    given = dict(parsed.get("OPTIONS", {}))
    # What the address says stands last, and counts.
    return {**parsed, "OPTIONS": {**given, "options": f"{_PLANNER} {given.get('options', '')}".rstrip()}}


DATABASES = {"default": _database(PORTAL.database_url)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "rules.permissions.ObjectPermissionBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
] + [{"NAME": "gridportal.accounts.passwords.RevokeTokens"}]
MFA_ADAPTER = "gridportal.accounts.second_factors.SecretsAdapter"
MFA_TOTP_TOLERANCE = 1  # a code may be one older or newer than the clock says
SOCIALACCOUNT_STORE_TOKENS = False
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "jobs"
LOGOUT_REDIRECT_URL = "sign-in"

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = PORTAL.secure_cookies
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if PORTAL.secure_cookies else None
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]  # asked by probes on this host, without the proxy
SECURE_HSTS_SECONDS = 31_536_000 if PORTAL.secure_cookies else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = PORTAL.secure_cookies
SESSION_COOKIE_SAMESITE = "Lax"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = PORTAL.home / "staticfiles"
_PLOTLY = importlib.util.find_spec("plotly")
STATICFILES_DIRS: list[object] = [BASE_DIR / "static"]
if _PLOTLY and _PLOTLY.origin:
    STATICFILES_DIRS.append(("vendor/plotly", Path(_PLOTLY.origin).parent / "package_data"))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "gridportal.web.static.Storage"},
}

FILE_UPLOAD_HANDLERS = [
    "gridportal.web.upload_limit.UploadLimit",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "gridportal.accounts.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": ["gridportal.web.api_parsing.BoundedJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "gridportal.web.api_formats.WordedNegotiation",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PAGINATION_CLASS": "gridportal.web.api_limits.Paging",
    "DEFAULT_THROTTLE_CLASSES": [
        "gridportal.web.api_limits.PersonThrottle",
        "gridportal.web.api_limits.StrangerThrottle",
        "gridportal.web.write_limit.WriteThrottle",
    ],
    "EXCEPTION_HANDLER": "gridportal.web.api.explain",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "GridPortal",
    "DESCRIPTION": "Submit, place, watch and explain MPI jobs.",
    "VERSION": "0.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "gridportal.web.api_refusals.describe",
    ],
    "ENUM_NAME_OVERRIDES": {
        "ProgramKindEnum": "scheduling.jobs.core.program_start.KIND_CHOICES",
        "JobStateEnum": "scheduling.jobs.models.STATES",
        "RunStateEnum": "scheduling.runs.models.STATES",
        "ExperimentStateEnum": "gridportal.experiments.models.STATES",
        "MatchStateEnum": "scheduling.resource_requests.models.STATES",
        "DecisionStateEnum": "scheduling.rescheduling.models.STATES",
        "NoticeKindEnum": "scheduling.notices.models.KINDS",
        "DeliveryStateEnum": "scheduling.notices.models.STATES",
        "WebhookFormatEnum": "scheduling.notices.models.FORMATS",
        "JobNoticesEnum": "scheduling.notices.models.JOB_CHOICES",
        "RoleEnum": "gridportal.accounts.roles.ALL_ROLES",
        "GroupRoleEnum": "gridportal.accounts.group_role_models.GIVEN_ROLES",
        "MovePolicyEnum": "scheduling.rescheduling.models.POLICIES",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

CACHES = cache_setting.setting(PORTAL.redis_url)

if PORTAL.redis_url:
    CELERY_BROKER_URL = PORTAL.redis_url.replace("unix://", "redis+socket://", 1)  # Celery's word for it
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, object] = {"visibility_timeout": 3600}
else:
    _QUEUE = PORTAL.home / "broker"
    for _part in ("queue", "processed", "control"):
        folders.make(_QUEUE / _part)
    CELERY_BROKER_URL = "filesystem://"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(_QUEUE / "queue"),
        "data_folder_out": str(_QUEUE / "queue"),
        "processed_folder": str(_QUEUE / "processed"),
        "control_folder": str(_QUEUE / "control"),
        "polling_interval": 0.1,
    }
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_CONSUMER = "gridportal.web.celery_heartbeat:Consumer"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_TIME_LIMIT = 600
CELERY_TASK_SOFT_TIME_LIMIT = 540
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(request_id)s %(name)s %(message)s"}},
    "filters": {
        "refusals": {"()": "gridportal.web.log_filters.RefusalsInOneLine"},
        "request-ids": {"()": "gridportal.web.log_filters.RequestIds"},
        "secrets": {"()": "gridportal.web.log_filters.HiddenSecrets"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["refusals", "request-ids", "secrets"],
        },
    },
    "root": {"handlers": ["stderr"], "level": PORTAL.log_level.upper()},
}
