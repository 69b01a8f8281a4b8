"""Addresses of the pages of experiments."""

from __future__ import annotations

from django.urls import URLPattern, path

from gridportal.experiments import views

urlpatterns: list[URLPattern] = [
    path("experiments/", views.experiments, name="experiments"),
    path("experiments/start", views.start, name="experiment-start"),
    path("experiments/<int:pk>/", views.experiment, name="experiment"),
    path("experiments/<int:pk>/live", views.live, name="experiment-live"),
    path("experiments/<int:pk>/trials.csv", views.trials, name="experiment-trials"),
    path("experiments/<int:pk>/cancel", views.cancel, name="experiment-cancel"),
    path("experiments/<int:pk>/resume", views.resume, name="experiment-resume"),
    path("experiments/<slug:name>/", views.newest, name="experiment-newest"),
]
