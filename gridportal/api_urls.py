"""Addresses of the REST API."""

from __future__ import annotations

from django.contrib.auth.views import redirect_to_login
from django.http.response import HttpResponseBase
from django.urls import path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.exceptions import NotAuthenticated
from rest_framework.permissions import IsAuthenticated
from rest_framework.routers import SimpleRouter

from gridportal.accounts import api as accounts
from gridportal.accounts import api_people as people
from gridportal.accounts import api_people_groups as people_groups
from gridportal.accounts import api_saved_views as saved_views
from gridportal.accounts import openapi  # noqa: F401  (registers how tokens are described)
from gridportal.experiments import api as experiments
from monitoring.status import api as monitoring
from monitoring.status import api_series
from scheduling.alerts import api as alerts
from scheduling.maintenance import api as maintenance
from scheduling.notices import api as notices
from scheduling.pages import api as scheduling
from scheduling.pages import api_clusters as cluster_checks
from scheduling.pages import api_depots, api_groups, api_profiles, api_programs, api_weighings, api_workload_logs
from scheduling.pages.api_runs import JobRuns
from scheduling.projects import api as projects
from scheduling.projects import budget_api as budgets
from scheduling.reports import api as reports
from scheduling.rescheduling import api as moves
from scheduling.rescheduling import api_rules as move_rules
from scheduling.resource_requests import api as requests

router = SimpleRouter(trailing_slash=False)
router.register("people", people.People, basename="api-person")
router.register("groups", people_groups.PeopleGroups, basename="api-group")
router.register("saved-views", saved_views.SavedViews, basename="api-saved-view")
router.register("applications", scheduling.Applications, basename="api-application")
router.register("own-programs", api_programs.OwnPrograms, basename="api-own-program")
router.register("jobs", scheduling.Jobs, basename="api-job")
router.register(r"jobs/(?P<job>[0-9]{1,18})/runs", JobRuns, basename="api-job-run")
router.register("sweeps", api_groups.Sweeps, basename="api-sweep")
router.register("migrations", moves.Migrations, basename="api-migration")
router.register("alerts", alerts.Alerts, basename="api-alert")
router.register("alert-rules", alerts.AlertRules, basename="api-alert-rule")
router.register("maintenance-windows", maintenance.MaintenanceWindows, basename="api-maintenance")
router.register("announcements", maintenance.Announcements, basename="api-announcement")
router.register("budgets", budgets.Budgets, basename="api-budget")
router.register("report-schedules", reports.ReportSchedules, basename="api-report-schedule")
router.register("projects", projects.Projects, basename="api-project")
router.register("workload-logs", api_workload_logs.WorkloadLogs, basename="api-workload-log")
router.register("match-requests", requests.MatchRequests, basename="api-match-request")
router.register("saved-requests", requests.SavedRequests, basename="api-saved-request")
router.register("experiments", experiments.Experiments, basename="api-experiment")

_SIGNED_IN = {"permission_classes": [IsAuthenticated]}


class _Docs(SpectacularSwaggerSplitView):
    """A page: OPTIONS has none, and who is not signed in is led to where that is done, and back."""

    http_method_names = ["get", "head"]

    def handle_exception(self, exc: Exception) -> HttpResponseBase:  # type: ignore[override]  # or a redirect
        """A wrong token is refused, as at any address for programs."""
        if isinstance(exc, NotAuthenticated):
            return redirect_to_login(self.request.get_full_path())
        answer: HttpResponseBase = super().handle_exception(exc)
        return answer


_docs = _Docs.as_view(url_name="api-schema", template_name="api_docs.html", **_SIGNED_IN)

urlpatterns = [
    *router.urls,
    path("me", accounts.Me.as_view(), name="api-me"),
    path("tokens", accounts.Tokens.as_view(), name="api-tokens"),
    path("tokens/<int:pk>", accounts.Token.as_view(), name="api-token"),
    path("audit", accounts.Audit.as_view(), name="api-audit"),
    path("applications/<slug:slug>/profiles", api_profiles.ApplicationProfiles.as_view(), name="api-profiles"),
    path("applications/<slug:slug>/skeletons", api_profiles.ApplicationSkeletons.as_view(), name="api-skeletons"),
    path(
        "applications/<slug:slug>/skeletons/<int:pk>",
        api_profiles.ApplicationSkeleton.as_view(),
        name="api-skeleton",
    ),
    path("clusters", cluster_checks.Clusters.as_view(), name="api-clusters"),
    path("clusters/<slug:name>", cluster_checks.ClusterDetail.as_view(), name="api-cluster"),
    path("clusters/<slug:name>/check", cluster_checks.CheckCluster.as_view(), name="api-cluster-check"),
    path("depots", api_depots.DepotUses.as_view(), name="api-depots"),
    path("resource-ads/<slug:cluster>", requests.ResourceAds.as_view(), name="api-resource-ads"),
    path("jobs/<int:pk>/propose-move", api_weighings.ProposeMove.as_view(), name="api-job-propose-move"),
    path("weighings/<int:pk>", api_weighings.Weighing.as_view(), name="api-weighing"),
    path("jobs/<int:pk>/move-policy", move_rules.JobPolicy.as_view(), name="api-job-move-policy"),
    path("migration-dry-runs/<slug:cluster>", move_rules.DryRun.as_view(), name="api-migration-dry-run"),
    path("migration-rules/<slug:cluster>", move_rules.MovePolicy.as_view(), name="api-migration-rules"),
    path("jobs/<int:pk>/notices", notices.JobNoticeChoice.as_view(), name="api-job-notices"),
    path("notices", notices.Notices.as_view(), name="api-notices"),
    path("notices/read", notices.ReadNotices.as_view(), name="api-notices-read"),
    path("notices/settings", notices.NoticeChoices.as_view(), name="api-notice-settings"),
    path("notices/test", notices.TestNotice.as_view(), name="api-notices-test"),
    path("preview", scheduling.PreviewJob.as_view(), name="api-preview"),
    path("network", monitoring.Network.as_view(), name="api-network"),
    path("network/nodes", monitoring.NetworkNodes.as_view(), name="api-network-nodes"),
    path("network/links", monitoring.NetworkLinks.as_view(), name="api-network-links"),
    path("network/status", monitoring.NetworkStatus.as_view(), name="api-network-status"),
    path("network/flows", monitoring.NetworkFlows.as_view(), name="api-network-flows"),
    path("network/logical", monitoring.NetworkLogical.as_view(), name="api-network-logical"),
    path("network/series", api_series.NetworkSeries.as_view(), name="api-network-series"),
    path("network/telemetry", api_series.NetworkTelemetry.as_view(), name="api-network-telemetry"),
    path("measure", monitoring.Measure.as_view(), name="api-measure"),
    path("schema", SpectacularAPIView.as_view(**_SIGNED_IN), name="api-schema"),
    path("docs", _docs, name="api-docs"),
]
