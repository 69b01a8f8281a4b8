"""Addresses of signing in and out, one's account and the audit trail."""

from __future__ import annotations

from django.urls import path

from gridportal.accounts.views import account, people_page, session, trail

urlpatterns = [
    path("sign-in/", session.SignIn.as_view(), name="sign-in"),
    path("sign-out/", session.SignOut.as_view(), name="sign-out"),
    path("account/", account.show, name="account"),
    path("account/password", account.change_password, name="account-password"),
    path("account/tokens", account.add_token, name="account-token-add"),
    path("account/tokens/<int:pk>/revoke", account.drop_token, name="account-token-revoke"),
    path("people/", people_page.people, name="people"),
    path("people/invite", people_page.invite, name="person-invite"),
    path("people/<int:pk>/role", people_page.give_role, name="person-role"),
    path("people/<int:pk>/switch", people_page.let_in, name="person-switch"),
    path("audit/", trail.trail, name="audit"),
    path("audit.csv", trail.trail_csv, name="audit-csv"),
]
