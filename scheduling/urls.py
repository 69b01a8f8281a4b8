"""Addresses of jobs, applications and help."""

from __future__ import annotations

from django.urls import URLPattern, path

from scheduling.pages.views import (
    applications,
    job,
    jobs,
    network,
    pages,
    profiles,
    reports,
    sample_output,
    submit,
    trial,
)
from scheduling.skeletons.views import skeletons

urlpatterns: list[URLPattern] = [
    path("", jobs.home, name="home"),
    path("jobs/", jobs.jobs, name="jobs"),
    path("jobs.csv", jobs.jobs_csv, name="jobs-csv"),
    path("jobs/<int:pk>/", job.job, name="job"),
    path("jobs/<int:pk>/live", job.live, name="job-live"),
    path("jobs/<int:pk>/log", job.log, name="job-log"),
    path("jobs/<int:pk>/log/tail", job.log_tail, name="job-log-tail"),
    path("jobs/<int:pk>/script", job.script, name="job-script"),
    path("jobs/<int:pk>/runs/<int:number>/", job.run, name="job-run"),
    path("jobs/<int:pk>/runs/<int:number>/live", job.run_live, name="job-run-live"),
    path("jobs/<int:pk>/runs/<int:number>/log", job.log, name="job-run-log"),
    path("jobs/<int:pk>/runs/<int:number>/log/tail", job.log_tail, name="job-run-log-tail"),
    path("jobs/<int:pk>/runs/<int:number>/script", job.script, name="job-run-script"),
    path("jobs/<int:pk>/cancel", job.cancel, name="job-cancel"),
    path("jobs/<int:pk>/hold", job.hold, name="job-hold"),
    path("jobs/<int:pk>/release", job.release, name="job-release"),
    path("jobs/<int:pk>/requeue", job.requeue, name="job-requeue"),
    path("jobs/<int:pk>/take", trial.take, name="job-take"),
    path("jobs/<int:pk>/resubmit", job.resubmit, name="job-resubmit"),
    path("submit/", submit.submit, name="submit"),
    path("submit/preview", submit.preview, name="submit-preview"),
    path("applications/", applications.applications, name="applications"),
    path("applications/new", applications.edit, name="application-new"),
    path("applications/new/output", sample_output.try_patterns, name="application-try-patterns"),
    path("applications/<slug:slug>/", applications.application, name="application"),
    path("applications/<slug:slug>/profile", profiles.application_profile, name="application-profile"),
    path("applications/<slug:slug>/skeletons/build", skeletons.build, name="skeleton-build"),
    path("applications/<slug:slug>/skeletons/<int:pk>", skeletons.skeleton, name="skeleton"),
    path("applications/<slug:slug>/skeletons/<int:pk>.json", skeletons.download, name="skeleton-json"),
    path("applications/<slug:slug>/edit", applications.edit, name="application-edit"),
    path("topology/", network.topology, name="topology"),
    path("topology/nodes/<str:name>/", network.node, name="node"),
    path("reports/", reports.report, name="report"),
    path("reports/use.csv", reports.report_csv, name="report-csv"),
    path("help/", pages.help_page, name="help"),
]
