"""Every address of the portal, by every method, against every role. A new address without a row here fails.

Jobs and tokens belong to `user`; `other` is a second plain user. A method without a row must be refused to everybody;
who opens an address that takes forms alone is led to the page that has the form.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.db import transaction
from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from gridportal.accounts.saved_views import save_view
from gridportal.web import downloads
from scheduling.alerts.models import AlertRule
from scheduling.contracts.models import Contract
from scheduling.jobs.group_models import JobGroup
from scheduling.jobs.project_models import Project
from scheduling.jobs.services.own_programs import ProgramRequest, save_program
from scheduling.jobs.share_models import JobShare
from scheduling.maintenance.models import MaintenanceWindow, PageAnnouncement
from scheduling.matching.models import SavedRequest
from scheduling.projects.models import Budget
from scheduling.reports.models import ReportSchedule
from scheduling.rescheduling.request_models import WeighingRequest
from scheduling.resource_requests.models import MatchRequest
from scheduling.workload_logs.models import LoggedCluster
from tests.scheduling.placing.trial_grid import keep_skeleton
from tests.scheduling.rescheduling.proposals import propose

ROLES = ("anonymous", "user", "other", "operator", "manager", "administrator")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
#: Addresses about a person; and those that nobody uses on themselves.
_OF_PERSON = ("person-role", "person-switch", "api-person-detail")
_OF_SOMEBODY_ELSE = ("person-second-factor-reset", "api-person-second-factor")

#   address                  method      anonymous user other operator manager administrator
TABLE = {
    ("sign-in", "GET"):                  "200 302 302 302 302 302",
    ("sign-in", "POST"):                 "200 302 302 302 302 302",
    ("sign-in", "PUT"):                  "405 302 302 302 302 302",
    ("sign-in", "PATCH"):                "405 302 302 302 302 302",
    ("sign-in", "DELETE"):               "405 302 302 302 302 302",
    ("sign-in-code", "GET"):             "302 302 302 302 302 302",
    ("sign-in-code", "POST"):            "302 302 302 302 302 302",
    ("sign-in-provider", "POST"):        "404 404 404 404 404 404",
    ("sign-in-provider-callback", "GET"): "404 404 404 404 404 404",
    ("sign-out", "POST"):                "302 302 302 302 302 302",
    ("account", "GET"):                  "302 200 200 200 200 200",
    ("account-password", "POST"):        "302 302 302 302 302 302",
    ("second-factor", "GET"):            "302 200 200 200 200 200",
    ("second-factor", "POST"):           "302 403 403 403 403 403",
    ("second-factor-remove", "POST"):    "302 422 422 422 422 422",
    ("second-factor-codes", "POST"):     "302 422 422 422 422 422",
    ("second-factor-confirm", "POST"):   "302 422 422 422 422 422",
    ("security-key-new", "GET"):         "302 302 302 302 302 302",
    ("security-key-new", "POST"):        "302 302 302 302 302 302",
    ("security-key-rename", "POST"):     "302 422 422 422 422 422",
    ("security-key-remove", "POST"):     "302 422 422 422 422 422",
    ("account-provider-join", "POST"):   "302 404 404 404 404 404",
    ("account-ldap-join", "POST"):       "302 404 404 404 404 404",
    ("account-identity-leave", "POST"):  "302 302 302 302 302 302",
    ("account-token-add", "POST"):       "302 200 200 200 200 200",
    ("account-token-revoke", "POST"):    "302 302 404 404 404 404",
    ("saved-views", "GET"):              "302 200 200 200 200 200",
    ("saved-view-save", "POST"):         "302 302 302 302 302 302",
    ("saved-view-change", "POST"):       "302 302 404 404 404 404",
    ("saved-view-remove", "POST"):       "302 302 404 404 404 404",
    ("api-saved-view-list", "GET"):      "401 200 200 200 200 200",
    ("api-saved-view-list", "POST"):     "401 201 201 201 201 201",
    ("api-saved-view-detail", "GET"):    "401 200 404 404 404 404",
    ("api-saved-view-detail", "PATCH"):  "401 200 404 404 404 404",
    ("api-saved-view-detail", "DELETE"): "401 204 404 404 404 404",
    ("audit", "GET"):                    "302 403 403 200 200 200",
    ("audit-csv", "GET"):                "302 403 403 200 200 200",
    ("healthz", "GET"):                  "200 200 200 200 200 200",
    ("readyz", "GET"):                   "503 503 503 503 503 503",
    ("metrics", "GET"):                  "200 200 200 200 200 200",
    ("home", "GET"):                     "302 302 302 302 302 302",
    ("jobs", "GET"):                     "302 200 200 200 200 200",
    ("jobs-compare", "GET"):             "302 200 200 200 200 200",
    ("jobs-many", "POST"):               "302 302 302 302 302 302",
    ("jobs-csv", "GET"):                 "302 200 200 200 200 200",
    ("job", "GET"):                      "302 200 404 200 200 200",
    ("job-live", "GET"):                 "302 200 404 200 200 200",
    ("job-requirements", "GET"):         "302 200 404 200 200 200",
    ("job-log", "GET"):                  "302 200 404 200 200 200",
    ("job-log-tail", "GET"):             "302 200 404 200 200 200",
    ("job-script", "GET"):               "302 200 404 200 200 200",
    ("job-run", "GET"):                  "302 200 404 200 200 200",
    ("job-run-live", "GET"):             "302 200 404 200 200 200",
    ("job-run-log", "GET"):              "302 200 404 200 200 200",
    ("job-run-log-tail", "GET"):         "302 200 404 200 200 200",
    ("job-run-script", "GET"):           "302 200 404 200 200 200",
    ("job-run-use", "GET"):              "302 200 404 200 200 200",
    ("job-use", "GET"):                  "302 200 404 200 200 200",
    ("job-files", "GET"):                "302 200 404 200 403 200",
    ("job-file", "GET"):                 "302 404 404 404 403 404",
    ("job-archive", "GET"):              "302 200 404 200 403 200",
    ("job-cancel", "POST"):              "302 302 404 302 403 302",
    ("job-hold", "POST"):                "302 302 404 302 403 302",
    ("job-release", "POST"):             "302 302 404 302 403 302",
    ("job-inputs-remove", "POST"):       "302 302 404 403 403 302",
    ("job-share", "GET"):                "302 200 404 200 403 200",
    ("job-share", "POST"):               "302 200 404 403 403 200",
    ("share-stop", "POST"):              "302 302 404 302 403 302",
    ("shared-job", "GET"):               "302 404 404 404 404 404",
    ("job-requeue", "POST"):             "302 302 404 302 403 302",
    ("job-take", "POST"):                "302 302 404 302 403 302",
    ("job-move", "POST"):                "302 302 404 302 403 302",
    ("job-move-expected", "GET"):        "302 200 404 200 403 200",
    ("job-resubmit", "GET"):             "302 302 404 302 302 302",
    ("job-random-nodes", "POST"):        "302 302 404 302 403 302",
    ("sweeps", "GET"):                   "302 200 200 200 200 200",
    ("sweep", "GET"):                    "302 200 404 200 200 200",
    ("sweep-csv", "GET"):                "302 200 404 200 200 200",
    ("sweep-cancel", "POST"):            "302 302 404 302 403 302",
    ("api-sweep-list", "GET"):           "401 200 200 200 200 200",
    ("api-sweep-list", "POST"):          "401 201 201 201 403 201",
    ("api-sweep-detail", "GET"):         "401 200 404 200 200 200",
    ("api-sweep-cancel", "POST"):        "401 200 404 200 403 200",
    ("submit", "GET"):                   "302 200 200 200 403 200",
    ("submit", "POST"):                  "302 302 302 302 403 302",
    ("submit-preview", "POST"):          "302 200 200 200 403 200",
    ("applications", "GET"):             "302 200 200 200 200 200",
    ("application", "GET"):              "302 200 200 200 200 200",
    ("application-profile", "GET"):      "302 200 200 200 200 200",
    ("skeleton", "GET"):                 "302 200 200 200 200 200",
    ("skeleton-json", "GET"):            "302 200 200 200 200 200",
    ("skeleton-build", "POST"):          "302 403 403 302 403 302",
    ("application-new", "GET"):          "302 403 403 403 403 200",
    ("application-new", "POST"):         "302 403 403 403 403 422",
    ("application-try-patterns", "POST"): "302 200 200 200 403 200",
    ("application-edit", "GET"):         "302 403 403 403 403 200",
    ("application-edit", "POST"):        "302 403 403 403 403 422",
    ("own-program-new", "GET"):          "302 200 200 200 403 200",
    ("own-program-new", "POST"):         "302 422 422 422 403 422",
    ("own-program-edit", "GET"):         "302 200 404 404 403 404",
    ("own-program-edit", "POST"):        "302 422 404 404 403 404",
    ("own-program-file", "GET"):         "302 200 404 404 404 200",
    ("own-program-share", "POST"):       "302 302 404 404 403 404",
    ("own-program-offer", "POST"):       "302 302 404 404 403 404",
    ("own-program-publish", "POST"):     "302 403 403 403 403 403",
    ("own-program-remove", "POST"):      "302 302 404 404 403 404",
    ("own-program-test", "POST"):        "302 302 404 404 403 404",
    ("experiments", "GET"):              "302 200 200 200 200 200",
    ("experiment-start", "POST"):        "302 403 403 302 403 302",
    ("experiment", "GET"):               "302 200 200 200 200 200",
    ("experiment-live", "GET"):          "302 200 200 200 200 200",
    ("experiment-trials", "GET"):        "302 200 200 200 200 200",
    ("experiment-cancel", "POST"):       "302 403 403 302 403 302",
    ("experiment-resume", "POST"):       "302 403 403 302 403 302",
    ("experiment-newest", "GET"):        "302 302 302 302 302 302",
    ("job-propose-move", "POST"):        "302 302 404 302 403 302",
    ("job-move-policy", "POST"):         "302 302 404 302 403 302",
    ("migrations", "GET"):               "302 200 200 200 200 200",
    ("migrations-dry-run", "GET"):       "302 403 403 200 403 200",
    ("migrations-csv", "GET"):           "302 200 200 200 200 200",
    ("weighing", "GET"):                 "302 200 404 200 200 200",
    ("migration", "GET"):                "302 200 404 200 200 200",
    ("migration-elsewhere", "GET"):      "302 403 404 422 403 422",
    ("migration-approve", "POST"):       "302 403 404 302 403 302",
    ("migration-refuse", "POST"):        "302 403 404 302 403 302",
    ("migration-override", "POST"):      "302 403 404 302 403 302",
    ("migration-rules", "POST"):         "302 403 403 422 403 422",
    ("match-requests", "GET"):           "302 200 200 200 200 200",
    ("match-request", "GET"):            "302 200 404 200 200 200",
    ("match-request-new", "GET"):        "302 200 200 200 403 200",
    ("match-request-new", "POST"):       "302 422 422 422 403 422",
    ("match-request-check", "POST"):     "302 200 200 200 403 200",
    ("match-request-cancel", "POST"):    "302 302 404 302 403 302",
    ("saved-request-remove", "POST"):    "302 302 404 404 403 404",
    ("resource-ad-change", "POST"):      "302 403 403 403 403 302",
    ("alerts", "GET"):                   "302 200 200 200 200 200",
    ("alert-rule-new", "GET"):           "302 403 403 200 403 200",
    ("alert-rule-new", "POST"):          "302 403 403 422 403 422",
    ("alert-rule", "GET"):               "302 200 200 200 200 200",
    ("alert-rule", "POST"):              "302 403 403 422 403 422",
    ("alert-rule-mute", "POST"):         "302 403 403 302 403 302",
    ("alert-rule-remove", "POST"):       "302 403 403 302 403 302",
    ("api-alert-list", "GET"):           "401 200 200 200 200 200",
    ("api-alert-rule-list", "GET"):      "401 200 200 200 200 200",
    ("api-alert-rule-list", "POST"):     "401 403 403 201 403 201",
    ("api-alert-rule-detail", "GET"):    "401 200 200 200 200 200",
    ("api-alert-rule-detail", "PATCH"):  "401 403 403 200 403 200",
    ("api-alert-rule-detail", "DELETE"): "401 403 403 204 403 204",
    ("api-alert-rule-mute", "POST"):     "401 403 403 200 403 200",
    ("maintenance", "GET"):              "302 200 200 200 200 200",
    ("maintenance-plan", "POST"):        "302 403 403 422 403 422",
    ("maintenance-end", "POST"):         "302 403 403 302 403 302",
    ("announcement-make", "POST"):       "302 403 403 403 403 422",
    ("announcement-end", "POST"):        "302 403 403 403 403 302",
    ("announcement-put-away", "POST"):   "302 302 302 302 302 302",
    ("api-maintenance-list", "GET"):     "401 200 200 200 200 200",
    ("api-maintenance-list", "POST"):    "401 403 403 400 403 400",
    ("api-maintenance-detail", "GET"):   "401 200 200 200 200 200",
    ("api-maintenance-detail", "DELETE"): "401 403 403 204 403 204",
    ("api-announcement-list", "GET"):    "401 200 200 200 200 200",
    ("api-announcement-list", "POST"):   "401 403 403 403 403 201",
    ("api-announcement-detail", "GET"):  "401 200 200 200 200 200",
    ("api-announcement-detail", "DELETE"): "401 403 403 403 403 204",
    ("projects", "GET"):                 "302 200 200 200 200 200",
    ("project", "GET"):                  "302 200 404 200 200 200",
    ("project-new", "GET"):              "302 403 403 403 403 200",
    ("project-new", "POST"):             "302 403 403 403 403 422",
    ("project-edit", "GET"):             "302 403 403 403 403 200",
    ("project-edit", "POST"):            "302 403 403 403 403 422",
    ("api-project-list", "GET"):         "401 200 200 200 200 200",
    ("api-project-list", "POST"):        "401 403 403 403 403 201",
    ("api-project-detail", "GET"):       "401 200 404 200 200 200",
    ("api-project-detail", "PATCH"):     "401 403 403 403 403 200",
    ("budget-new", "GET"):               "302 403 403 403 200 200",
    ("budget-new", "POST"):              "302 403 403 403 422 422",
    ("budget-edit", "GET"):              "302 403 403 403 200 200",
    ("budget-edit", "POST"):             "302 403 403 403 422 422",
    ("api-budget-list", "GET"):          "401 200 200 200 200 200",
    ("api-budget-list", "POST"):         "401 403 403 403 201 201",
    ("api-budget-detail", "GET"):        "401 200 404 200 200 200",
    ("api-budget-detail", "PATCH"):      "401 403 403 403 200 200",
    ("people", "GET"):                   "302 403 403 403 403 200",
    ("person-invite", "POST"):           "302 403 403 403 403 422",
    ("person-role", "POST"):             "302 403 403 403 403 302",
    ("person-switch", "POST"):           "302 403 403 403 403 302",
    ("person-second-factor-reset", "POST"): "302 403 403 403 403 302",
    ("clusters", "GET"):                 "302 403 403 200 200 200",
    ("cluster", "GET"):                  "302 403 403 200 200 200",
    ("cluster-check", "POST"):           "302 403 403 302 403 302",
    ("api-clusters", "GET"):             "401 403 403 200 200 200",
    ("api-cluster", "GET"):              "401 403 403 200 200 200",
    ("api-cluster-check", "POST"):       "401 403 403 202 403 202",
    ("groups", "GET"):                   "302 403 403 403 403 200",
    ("group-new", "POST"):               "302 403 403 403 403 422",
    ("group", "GET"):                    "302 403 403 403 403 200",
    ("group-rename", "POST"):            "302 403 403 403 403 422",
    ("group-add", "POST"):               "302 403 403 403 403 422",
    ("group-drop", "POST"):              "302 403 403 403 403 302",
    ("group-role", "POST"):              "302 403 403 403 403 302",
    ("group-permissions", "POST"):       "302 403 403 403 403 302",
    ("group-project", "POST"):           "302 403 403 403 403 422",
    ("group-remove", "POST"):            "302 403 403 403 403 302",
    ("api-group-list", "GET"):           "401 403 403 403 403 200",
    ("api-group-list", "POST"):          "401 403 403 403 403 201",
    ("api-group-detail", "GET"):         "401 403 403 403 403 200",
    ("api-group-detail", "PATCH"):       "401 403 403 403 403 200",
    ("api-group-detail", "DELETE"):      "401 403 403 403 403 204",
    ("settings-try-provider", "POST"):   "302 403 403 403 403 404",
    ("settings-try-ldap", "POST"):       "302 403 403 403 403 404",
    ("api-person-second-factor", "DELETE"): "401 403 403 403 403 204",
    ("settings", "GET"):                 "302 403 403 403 403 200",
    ("api-person-list", "GET"):          "401 403 403 403 403 200",
    ("api-person-list", "POST"):         "401 403 403 403 403 201",
    ("api-person-detail", "GET"):        "401 403 403 403 403 200",
    ("api-person-detail", "PATCH"):      "401 403 403 403 403 200",
    ("job-notices", "POST"):             "302 302 404 302 302 302",
    ("notices", "GET"):                  "302 200 200 200 200 200",
    ("notices-bell", "GET"):             "200 200 200 200 200 200",
    ("notices-read", "POST"):            "302 302 302 302 302 302",
    ("notices-test", "POST"):            "302 302 302 302 302 302",
    ("notice-settings", "GET"):          "302 200 200 200 200 200",
    ("notice-settings", "POST"):         "302 422 422 422 422 422",
    ("api-job-notices", "GET"):          "401 200 404 200 200 200",
    ("api-job-notices", "PUT"):          "401 400 404 400 400 400",
    ("api-notices", "GET"):              "401 200 200 200 200 200",
    ("api-notices-read", "POST"):        "401 200 200 200 200 200",
    ("api-notice-settings", "GET"):      "401 200 200 200 200 200",
    ("api-notice-settings", "PATCH"):    "401 200 200 200 200 200",
    ("api-notices-test", "POST"):        "401 201 201 201 201 201",
    ("depots", "GET"):                   "302 403 403 200 200 200",
    ("reports", "GET"):                  "302 302 302 302 302 302",
    ("report", "GET"):                   "302 200 200 200 200 200",
    ("workload-logs", "GET"):            "302 403 403 403 403 200",
    ("workload-log-remove", "GET"):      "302 403 403 403 403 200",
    ("workload-log-remove", "POST"):     "302 403 403 403 403 302",
    ("api-workload-log-list", "GET"):    "401 403 403 403 403 200",
    ("api-workload-log-detail", "GET"):  "401 403 403 403 403 200",
    ("api-workload-log-detail", "DELETE"): "401 403 403 403 403 202",
    ("report-csv", "GET"):               "302 200 200 200 200 200",
    ("report-pdf", "GET"):               "302 200 200 200 200 200",
    ("report-sections", "GET"):          "302 403 403 200 200 200",
    ("report-table-csv", "GET"):         "302 403 403 200 200 200",
    ("report-schedules", "GET"):         "302 200 200 200 200 200",
    ("report-schedule-new", "GET"):      "302 403 403 403 200 200",
    ("report-schedule-new", "POST"):     "302 403 403 403 422 422",
    ("report-schedule-edit", "GET"):     "302 403 403 403 200 200",
    ("report-schedule-edit", "POST"):    "302 403 403 403 422 422",
    ("report-schedule-remove", "POST"):  "302 403 403 403 302 302",
    ("report-schedule-stop", "POST"):    "302 302 404 404 404 404",
    ("api-report-schedule-list", "GET"):      "401 200 200 200 200 200",
    ("api-report-schedule-list", "POST"):     "401 403 403 403 201 201",
    ("api-report-schedule-detail", "GET"):    "401 200 404 404 200 200",
    ("api-report-schedule-detail", "PATCH"):  "401 403 403 403 200 200",
    ("api-report-schedule-detail", "DELETE"): "401 403 403 403 204 204",
    ("topology", "GET"):                 "302 200 200 200 200 200",
    ("measure", "POST"):                 "302 403 403 302 403 302",
    ("node", "GET"):                     "302 200 200 200 200 200",
    ("link", "GET"):                     "302 200 200 200 200 200",
    ("topology-fact", "GET"):            "302 404 404 404 404 404",
    ("topology-flows", "GET"):           "302 200 200 200 200 200",
    ("series-csv", "GET"):               "302 200 200 200 200 200",
    ("telemetry", "GET"):                "302 200 200 200 200 200",
    ("help", "GET"):                     "200 200 200 200 200 200",
    ("api-index", "GET"):                "401 200 200 200 200 200",
    ("api-me", "GET"):                   "401 200 200 200 200 200",
    ("api-tokens", "GET"):               "401 200 200 200 200 200",
    ("api-tokens", "POST"):              "401 201 201 201 201 201",
    ("api-token", "DELETE"):             "401 204 404 404 404 404",
    ("api-audit", "GET"):                "401 403 403 200 200 200",
    ("api-application-list", "GET"):     "401 200 200 200 200 200",
    ("api-application-list", "POST"):    "401 403 403 403 403 201",
    ("api-application-detail", "GET"):   "401 200 200 200 200 200",
    ("api-application-detail", "PATCH"): "401 403 403 403 403 200",
    ("api-profiles", "GET"):             "401 200 200 200 200 200",
    ("api-skeletons", "GET"):            "401 200 200 200 200 200",
    ("api-skeletons", "POST"):           "401 403 403 400 403 400",
    ("api-skeleton", "GET"):             "401 200 200 200 200 200",
    ("api-job-list", "GET"):             "401 200 200 200 200 200",
    ("api-job-list", "POST"):            "401 201 201 201 403 201",
    ("api-job-shares", "GET"):           "401 200 404 200 403 200",
    ("api-job-shares", "POST"):          "401 201 404 403 403 201",
    ("api-job-share", "DELETE"):         "401 204 404 204 403 204",
    ("api-job-many", "POST"):            "401 200 200 200 200 200",
    ("api-job-detail", "GET"):           "401 200 404 200 200 200",
    ("api-job-cancel", "POST"):          "401 200 404 200 403 200",
    ("api-job-hold", "POST"):            "401 400 404 400 403 400",
    ("api-job-release", "POST"):         "401 400 404 400 403 400",
    ("api-job-requeue", "POST"):         "401 400 404 400 403 400",
    ("api-job-take", "POST"):            "401 400 404 400 403 400",
    ("api-job-move", "POST"):            "401 400 404 400 403 400",
    ("api-job-moves", "GET"):            "401 200 404 200 200 200",
    ("api-job-data", "GET"):             "401 404 404 404 404 404",
    ("api-job-resubmit", "POST"):        "401 201 404 201 403 201",
    ("api-job-random-nodes", "POST"):    "401 201 404 201 403 201",
    ("api-job-compare", "GET"):          "401 400 400 400 400 400",
    ("api-job-events", "GET"):           "401 200 404 200 200 200",
    ("api-job-requirements", "GET"):     "401 200 404 200 200 200",
    ("api-job-log", "GET"):              "401 200 404 200 200 200",
    ("api-job-script", "GET"):           "401 200 404 200 200 200",
    ("api-job-placement", "GET"):        "401 200 404 200 200 200",
    ("api-job-phases", "GET"):           "401 200 404 200 200 200",
    ("api-job-contract", "GET"):         "401 200 404 200 200 200",
    ("api-job-run-list", "GET"):         "401 200 404 200 200 200",
    ("api-job-run-detail", "GET"):       "401 200 404 200 200 200",
    ("api-job-run-log", "GET"):          "401 200 404 200 200 200",
    ("api-job-run-script", "GET"):       "401 200 404 200 200 200",
    ("api-job-run-phases", "GET"):       "401 200 404 200 200 200",
    ("api-job-run-contract", "GET"):     "401 200 404 200 200 200",
    ("api-experiment-list", "GET"):      "401 200 200 200 200 200",
    ("api-experiment-list", "POST"):     "401 403 403 201 403 201",
    ("api-experiment-detail", "GET"):    "401 200 200 200 200 200",
    ("api-experiment-trials", "GET"):    "401 200 200 200 200 200",
    ("api-experiment-cancel", "POST"):   "401 403 403 200 403 200",
    ("api-experiment-resume", "POST"):   "401 403 403 400 403 400",
    ("api-migration-list", "GET"):       "401 200 200 200 200 200",
    ("api-migration-without-decision", "GET"): "401 200 200 200 200 200",
    ("api-migration-detail", "GET"):     "401 200 404 200 200 200",
    ("api-migration-approve", "POST"):   "401 403 404 200 403 200",
    ("api-migration-refuse", "POST"):    "401 403 404 200 403 200",
    ("api-migration-override", "POST"):  "401 403 404 400 403 400",
    ("api-job-propose-move", "POST"):    "401 400 404 400 403 400",
    ("api-weighing", "GET"):             "401 200 404 200 200 200",
    ("api-job-move-policy", "GET"):      "401 200 404 200 200 200",
    ("api-job-move-policy", "PATCH"):    "401 200 404 200 403 200",
    ("api-migration-dry-run", "GET"):    "401 403 403 200 403 200",
    ("api-migration-rules", "GET"):      "401 403 403 200 200 200",
    ("api-migration-rules", "PATCH"):    "401 403 403 200 403 200",
    ("api-match-request-list", "GET"):   "401 200 200 200 200 200",
    ("api-match-request-list", "POST"):  "401 400 400 400 403 400",
    ("api-match-request-detail", "GET"): "401 200 404 200 200 200",
    ("api-match-request-cancel", "POST"): "401 200 404 200 403 200",
    ("api-match-request-explain", "GET"): "401 404 404 404 404 404",
    ("api-match-request-check", "POST"): "401 200 200 200 403 200",
    ("api-saved-request-list", "GET"):   "401 200 200 200 200 200",
    ("api-saved-request-list", "POST"):  "401 400 400 400 403 400",
    ("api-saved-request-detail", "GET"): "401 200 404 404 404 404",
    ("api-saved-request-detail", "DELETE"): "401 204 404 404 403 404",
    ("api-resource-ads", "GET"):         "401 200 200 200 200 200",
    ("api-resource-ads", "PUT"):         "401 403 403 403 403 200",
    ("api-depots", "GET"):               "401 403 403 200 200 200",
    ("api-job-run-files", "GET"):        "401 200 404 200 403 200",
    ("api-job-run-file", "GET"):         "401 404 404 404 403 404",
    ("api-job-run-archive", "GET"):      "401 200 404 200 403 200",
    ("api-application-publish", "POST"): "401 403 403 403 403 409",
    ("api-own-program-list", "GET"):     "401 200 200 200 200 200",
    ("api-own-program-list", "POST"):    "401 400 400 400 403 400",
    ("api-own-program-detail", "GET"):   "401 200 404 200 200 200",
    ("api-own-program-detail", "PATCH"): "401 200 404 404 403 404",
    ("api-own-program-detail", "DELETE"): "401 204 404 404 403 404",
    ("api-own-program-share", "POST"):   "401 200 404 404 403 404",
    ("api-own-program-offer", "POST"):   "401 200 404 404 403 404",
    ("api-own-program-test", "POST"):    "401 400 404 404 403 404",
    ("api-preview", "POST"):             "401 200 200 200 403 200",
    ("api-network", "GET"):              "401 200 200 200 200 200",
    ("api-network-nodes", "GET"):        "401 200 200 200 200 200",
    ("api-network-links", "GET"):        "401 200 200 200 200 200",
    ("api-network-status", "GET"):       "401 200 200 200 200 200",
    ("api-network-flows", "POST"):       "401 200 200 200 200 200",
    ("api-network-logical", "GET"):      "401 400 400 400 400 400",
    ("api-network-series", "GET"):       "401 400 400 400 400 400",
    ("api-network-telemetry", "GET"):    "401 200 200 200 200 200",
    ("api-measure", "POST"):             "401 403 403 202 403 202",
    ("api-schema", "GET"):               "401 200 200 200 200 200",
    ("api-docs", "GET"):                 "302 200 200 200 200 200",
}  # fmt: skip

_FORM = {
    "application": "ep",
    "node_count": "2",
    "method": "pattern",
    "candidates": "3",
    "seed": "0",
    "param-klass": "S",
    "param-seed": "1",
    "param-note": "",
}
_PASSWORDS = {"old_password": "correct-horse-battery", "new_password1": "quite-another-9"}
BODIES: dict[str, dict[str, Any]] = {
    "account-password": _PASSWORDS | {"new_password2": "quite-another-9"},
    "account-token-add": {"name": "made here", "days": "7"},
    "submit": _FORM | {"request_key": "7d0a9f5e-5d42-4c7b-9a53-0f6f7ac0b4b1"},
    "submit-preview": _FORM | {"request_key": "7d0a9f5e-5d42-4c7b-9a53-0f6f7ac0b4b1"},
    "experiment-start": {"name": "slowdown", "seed": "7"},
    "api-experiment-list": {"name": "slowdown", "seed": 7},
    "measure": {"cluster": "grid"},
    "api-group-list": {"name": "chemistry"},
    "api-saved-view-list": {"list": "jobs", "name": "failed"},
    "api-tokens": {"name": "made here"},
    "api-application-list": {"slug": "new", "name": "New", "command": ["true"]},
    "api-application-detail": {"description": "Changed."},
    "api-job-list": {"application": "ep", "node_count": 2},
    "api-job-many": {"do": "cancel", "jobs": [1]},
    "api-sweep-list": {"application": "ep", "node_count": 2, "sweep": {"klass": ["S", "W"]}},
    "match-request-check": {"text": "[ x = ) ]"},
    "api-match-request-list": {"request": "[ x = ) ]"},
    "api-match-request-check": {"request": "[ x = ) ]"},
    "api-saved-request-list": {"name": "", "request": "[]"},
    "api-resource-ads": {"ad": ""},
    "api-network-flows": {"flows": [{"source": "n1", "target": "n2"}]},
    "api-preview": {"application": "ep", "node_count": 2},
    "job-share": {"link": "1", "days": "7"},
    "alert-rule-mute": {"seconds": "60"},
    "api-alert-rule-mute": {"seconds": 60},
    "api-alert-rule-list": {"name": "new", "cluster": "grid", "metric": "cpu", "level": 0.5},
    "api-alert-rule-detail": {"level": 0.9},
    "own-program-share": {"with": "other"},
    "api-own-program-share": {"whom": "other"},
    "api-own-program-detail": {"description": "Changed."},
    "api-application-publish": {"offered_at": "2026-01-01T00:00:00Z"},
    "api-announcement-list": {"text": "Hello."},
    "api-project-list": {"name": "sea"},
    "api-budget-list": {
        "project": "ocean",
        "node_hours": 10,
        "begins": "2027-01-01",
        "ends": "2027-02-01",
        "reason": "the next",
    },
    "api-budget-detail": {"node_hours": 20, "version": 1, "reason": "more"},
    "api-report-schedule-list": {"name": "new", "every": "week", "tabs": ["people"], "people": ["user"]},
    "api-report-schedule-detail": {"every": "month"},
    "api-project-detail": {"description": "Changed."},
    "api-person-list": {"username": "ada"},
    "api-person-detail": {"role": "operator"},
    "migration-refuse": {"reason": "not now"},
    "api-migration-refuse": {"reason": "not now"},
    "api-migration-override": {"nodes": ["n9"], "reason": "others"},
    "api-migration-rules": {"threshold": 0.4},
    "api-job-move-policy": {"opted_out": True},
}


def addresses(found: Any = None, namespace: str = "") -> Iterator[tuple[str, str | None]]:
    """(namespace, name) of every address in the resolver."""
    for entry in (found or get_resolver()).url_patterns:
        if isinstance(entry, URLResolver):
            yield from addresses(entry, entry.namespace or namespace)
        elif isinstance(entry, URLPattern):
            yield namespace, entry.name


NAMES = sorted({name for name, _ in TABLE})


def of_job(pk: int) -> dict[str, list[Any]]:
    """The arguments of the addresses of a job and of its first run."""
    names = [name for name in NAMES if name.startswith(("job-", "api-job-")) or name == "job"]
    of_run = {
        name for name in names if name.removeprefix("api-").startswith(("job-run", "job-file", "job-archive"))
    } - {"api-job-run-list"}
    return {
        name: [pk, 1] if name in of_run else [pk]
        for name in names
        if name not in ("api-job-list", "api-job-compare", "api-job-many", "api-job-share")
    }


@pytest.fixture
def world(people, make_job, application) -> dict[str, list[Any]]:
    """The arguments of the addresses that have some."""
    from gridportal.accounts.services import create_token
    from gridportal.experiments.models import Experiment
    from monitoring.clusters.models import Cluster, Link, Node
    from monitoring.history.core.samples import Sample
    from monitoring.telemetry.models import Source
    from monitoring.telemetry.services.readings import record_readings

    job = make_job(people["user"], "running")
    running, token = job.pk, create_token(people["user"], "mine")[0].pk
    cluster = Cluster.objects.create(name="grid", topology="two", mode="root")
    ends = [Node.objects.create(cluster=cluster, name=name, position=place) for place, name in enumerate(("n1", "n2"))]
    for source, target in (ends, ends[::-1]):
        Link.objects.create(cluster=cluster, source=source, target=target, capacity=1e8, bandwidth=8e7)
    Node.objects.create(cluster=cluster, name="n3", position=2)
    record_readings("grid", "agent", [Sample("n1", "cpu", timezone.now().timestamp(), 0.5)])
    Source.objects.create(cluster=cluster, name="probes", kind="probes", last_ok=timezone.now())
    skeleton = keep_skeleton(application)
    Contract.objects.create(run=job.runs.get())
    job.skeleton_runs.create(placement=job.placements.get(), skeleton=skeleton, candidate=0, nodes=["n1"], key="try-1")
    BODIES.update({name: {"profile": skeleton.profile_id} for name in ("skeleton-build", "api-skeletons")})
    decision = propose(job).pk
    weighing = WeighingRequest.objects.create(job=job, asked_by=people["user"], ended_at=timezone.now()).pk
    rule = AlertRule.objects.create(name="busy", cluster=cluster, metric="cpu", level=0.5, clear=0.5).pk
    now = timezone.now()
    over = MaintenanceWindow.objects.create(
        cluster=cluster, start=now - timedelta(days=2), end=now - timedelta(days=1)
    ).pk
    announced = PageAnnouncement.objects.create(text="Hello.").pk
    ocean = Project.objects.create(name="ocean")
    ocean.members.add(people["user"])
    given = Budget.objects.create(project=ocean, node_hours=9, begins="2026-01-01", ends="2026-02-01").pk
    sent_at = {"next_at": now, "tabs": ["people"]}
    report = ReportSchedule.objects.create(name="board", owner=people["manager"], **sent_at)
    report.people.add(people["user"])
    LoggedCluster.objects.create(name="old", start=now)
    sent = MatchRequest.objects.create(owner=people["user"], cluster="grid", text="[]", lifetime=600).pk
    saved = SavedRequest.objects.create(owner=people["user"], name="mine", text="[]").pk
    view = save_view(people["user"], "jobs", "mine", "state=failed").pk
    physics = Group.objects.create(name="physics")
    brought = save_program(people["user"], ProgramRequest("Mine", content=b"#!/bin/sh\n")).slug
    swept = JobGroup.objects.create(
        owner=people["user"], application=application, axes=[{"name": "klass", "values": ["S", "W"]}]
    ).pk
    share = JobShare.objects.create(job=job, person=people["manager"], made_by=people["user"]).pk
    experiment = Experiment.objects.create(name="slowdown", seed=1, folder="none", state="running").pk
    return of_job(running) | {
        **{name: [brought] for name in NAMES if name.removeprefix("api-").startswith("own-program-")},
        **{name: [] for name in ("own-program-new", "api-own-program-list")},
        "api-application-publish": ["ep"],
        **{name: [swept] for name in ("sweep", "sweep-csv", "sweep-cancel", "api-sweep-detail", "api-sweep-cancel")},
        **{name: [running, share] for name in ("share-stop", "api-job-share")},
        "shared-job": ["made-up"],
        "saved-view-save": ["jobs"],
        **{name: [physics.pk] for name in NAMES if name.removeprefix("api-").startswith("group-")},
        **{name: [] for name in ("group-new", "api-group-list")},
        "group": [physics.pk],
        **{name: ["grid"] for name in ("cluster", "cluster-check", "api-cluster", "api-cluster-check")},
        "group-drop": [physics.pk, people["user"].pk],
        **{name: [view] for name in ("saved-view-change", "saved-view-remove", "api-saved-view-detail")},
        "account-token-revoke": [token],
        "account-identity-leave": [1],
        **{name: [1] for name in ("security-key-rename", "security-key-remove")},
        "api-token": [token],
        "application": ["ep"],
        "application-edit": ["ep"],
        "application-profile": ["ep"],
        "api-profiles": ["ep"],
        "api-skeletons": ["ep"],
        "skeleton": ["ep", skeleton.pk],
        "skeleton-json": ["ep", skeleton.pk],
        "api-skeleton": ["ep", skeleton.pk],
        "skeleton-build": ["ep"],
        "api-application-detail": ["ep"],
        **{name: [experiment] for name in NAMES if name.startswith("experiment")},
        **{name: [experiment] for name in NAMES if name.startswith("api-experiment-")},
        "api-experiment-list": [],
        **{name: [decision] for name in NAMES if name.removeprefix("api-").startswith("migration")},
        **{name: [weighing] for name in ("weighing", "api-weighing")},
        "api-migration-list": [],
        "api-migration-without-decision": [],
        "migration-rules": ["grid"],
        "api-migration-rules": ["grid"],
        "api-migration-dry-run": ["grid"],
        "migrations": [],
        "migrations-csv": [],
        "migrations-dry-run": [],
        "report-sections": ["moves"],
        "report-table-csv": ["moves", "moves"],
        "workload-log-remove": ["old"],
        "api-workload-log-detail": ["old"],
        "experiments": [],
        "experiment-start": [],
        "experiment-newest": ["slowdown"],
        **{name: [sent] for name in NAMES if name.removeprefix("api-").startswith("match-request-")},
        **{name: [] for name in ("match-request-new", "match-request-check", "api-match-request-check")},
        "match-request": [sent],
        "api-match-request-list": [],
        "saved-request-remove": [saved],
        "api-saved-request-detail": [saved],
        "resource-ad-change": ["grid"],
        "api-resource-ads": ["grid"],
        **{name: [rule] for name in NAMES if name.removeprefix("api-").startswith("alert-rule")},
        **{name: [] for name in ("alert-rule-new", "api-alert-rule-list")},
        **{name: [over] for name in ("maintenance-end", "api-maintenance-detail")},
        **{name: [announced] for name in ("announcement-end", "announcement-put-away", "api-announcement-detail")},
        **{name: [people["other"].pk] for name in _OF_PERSON},
        **{name: [people["user"].pk] for name in _OF_SOMEBODY_ELSE},
        **{name: ["ocean"] for name in ("project", "project-edit", "api-project-detail")},
        "budget-new": ["ocean"],
        "budget-edit": ["ocean", given],
        "api-budget-detail": [given],
        **{name: [report.pk] for name in NAMES if name.removeprefix("api-").startswith("report-schedule-")},
        **{name: [] for name in ("report-schedule-new", "api-report-schedule-list")},
        "node": ["n1"],
        "link": ["n1", "n2"],
        "series-csv": ["n1", "cpu"],
    }


def ask(client: Any, name: str, method: str, address: str) -> Any:
    """One request whose effects are undone; the downloads before it, which nobody reads to the end, do not count."""
    downloads.forget()
    body = BODIES.get(name, {})
    json = {"content_type": "application/json"} if name.startswith("api-") or method != "POST" else {}
    with transaction.atomic():
        answer = client.get(address) if method == "GET" else getattr(client, method.lower())(address, body, **json)
        transaction.set_rollback(True)
    return answer


def test_every_address_has_a_row():
    known = {name for namespace, name in addresses() if namespace != "admin"}
    assert known == set(NAMES), "give every new address a row in TABLE"


#: For the world takes longer to make than to ask, many addresses are asked together: those whose names begin with one
#: of these words.
_FIRST = sorted({name.removeprefix("api-").partition("-")[0] for name in NAMES})
of_some = pytest.mark.parametrize(
    "words", [_FIRST[at::8] for at in range(8)], ids=lambda words: f"{words[0]} and {len(words) - 1} more"
)
#: With no and with all rights: in `make test` these alone try methods without a row.
LEAST, MOST = ROLES[0], ROLES[-1]


@of_some
def test_each_role_gets_what_the_table_says(client_as, world, words):
    wrong = []
    for role in ROLES:
        requests = [each for each in requests_of(words) if not _is_left_out(each, role)]
        wrong += _wrong(client_as(role), role, requests, world)
    assert not wrong, "\n".join(wrong)


def _is_left_out(request, role) -> bool:
    """Whether `make test-slow` alone asks this: as one of the roles between when there is no row, or one that says the
    same of everybody who is signed in; as nobody, who is refused before the method matters, by other methods without a
    row than one for each address, taken in turn."""
    name, method = request
    row = TABLE.get(request, "").split()
    if not row and role == LEAST:
        return method != METHODS[NAMES.index(name) % len(METHODS)]
    if row and role == ROLES[1]:
        return False
    return role not in (LEAST, MOST) and len(set(row[1:])) < 2


@pytest.mark.slow
@pytest.mark.parametrize("role", ROLES[:-1])
@of_some
def test_each_role_but_the_last_gets_what_the_table_says_of_all(client_as, world, words, role):
    requests = [each for each in requests_of(words) if _is_left_out(each, role)]
    wrong = list(_wrong(client_as(role), role, requests, world))
    assert not wrong, "\n".join(wrong)


def requests_of(words) -> Iterator[tuple[str, str]]:
    """Every address that begins with one of these words, by every method."""
    for name in NAMES:
        if name.removeprefix("api-").partition("-")[0] in words:
            yield from ((name, method) for method in METHODS)


def _wrong(client, role, requests, world) -> Iterator[str]:
    """Where this client is not answered as the table says; what a request changes about its session is not kept."""
    cookies = client.cookies.output(header="", sep=";")
    for name, method in requests:
        address, row = reverse(name, args=world.get(name, [])), TABLE.get((name, method))
        accepted = {int(row.split()[ROLES.index(role)])} if row else refusals(name, method, role)
        client.cookies.clear()
        client.cookies.load(cookies)
        answer = ask(client, name, method, address)
        if answer.status_code not in accepted:
            yield f"{method} {address} as {role}: {answer.status_code}, not {accepted}"
        if role == "anonymous" and answer.status_code == 302 and not name.startswith("sign-"):
            assert answer["Location"].startswith("/sign-in/")


def refusals(name: str, method: str, role: str) -> set[int]:
    """The answers to a method without a row. Who opens the address of a form is led to its page."""
    is_form = method == "GET" and (name, "POST") in TABLE and not name.startswith("api-")
    return {302, 401, 403, 405} if role == "anonymous" else {403, 404, 405, *([302] if is_form else [])}


def test_the_administration_is_closed_to_everybody_else(client_as, people, world):
    names = {name for namespace, name in addresses() if namespace == "admin" and name and name != "login"}
    assert len(names) > 20
    clients = {role: client_as(role) for role in ROLES[:-1]}
    for address in filter(None, (_admin_address(name, people["user"].pk) for name in sorted(names))):
        for role, client in clients.items():
            for method in ("GET", "POST"):
                answer = client.generic(method, address)
                assert answer.status_code in (302, 403), f"{method} {address} as {role}: {answer.status_code}"
                assert answer.status_code == 403 or answer["Location"].split("?")[0] in (
                    "/sign-in/",
                    "/admin/login/",
                    "/admin/",
                ), f"{address} leads {role} to {answer['Location']}"


def _admin_address(name: str, pk: int) -> str | None:
    for args in ([], [pk], ["auth"], [pk, pk]):
        try:
            return reverse(f"admin:{name}", args=args)
        except NoReverseMatch:
            continue
    raise AssertionError(f"admin:{name} takes arguments that this test does not know")


RECORDS = (
    *("accounts_auditevent", "scheduling_job", "scheduling_jobevent", "scheduling_placement", "scheduling_run"),
    *("scheduling_application", "scheduling_skeleton", "scheduling_skeletonrun"),
    *("monitoring_cluster", "monitoring_node", "monitoring_link", "monitoring_source"),
)


def test_even_administrators_cannot_edit_records(client_as, world):
    client = client_as("administrator")
    for record in RECORDS:
        row = apps.get_model(*record.split("_")).objects.first()
        assert row is not None, f"the world has no {record} to try"
        change, delete = (reverse(f"admin:{record}_{what}", args=[row.pk]) for what in ("change", "delete"))
        assert client.get(reverse(f"admin:{record}_changelist")).status_code == 200, record
        assert client.post(reverse(f"admin:{record}_add"), {}).status_code == 403, record
        assert client.get(change).status_code == 200, record
        assert client.post(change, {"state": "failed"}).status_code == 403, record
        assert client.post(delete, {"post": "yes"}).status_code == 403, record
