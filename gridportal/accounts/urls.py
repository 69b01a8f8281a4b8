"""Addresses of signing in and out, one's account and the audit trail."""

from __future__ import annotations

from django.urls import path

from gridportal.accounts.views import (
    account,
    factor_pages,
    people_page,
    provider,
    saved_view_pages,
    session,
    sign_in_tests,
    trail,
    ways,
)

urlpatterns = [
    path("sign-in/", session.SignIn.as_view(), name="sign-in"),
    path("sign-in/code", session.code, name="sign-in-code"),
    path("sign-in/provider", provider.begin, name="sign-in-provider"),
    path("sign-in/provider/callback", provider.back, name="sign-in-provider-callback"),
    path("sign-out/", session.SignOut.as_view(), name="sign-out"),
    path("account/", account.show, name="account"),
    path("account/password", account.change_password, name="account-password"),
    path("account/second-factor", factor_pages.second_factor, name="second-factor"),
    path("account/second-factor/confirm", factor_pages.confirm, name="second-factor-confirm"),
    path("account/second-factor/remove", factor_pages.remove_app, name="second-factor-remove"),
    path("account/second-factor/codes", factor_pages.renew_codes, name="second-factor-codes"),
    path("account/second-factor/keys/new", factor_pages.new_key, name="security-key-new"),
    path("account/second-factor/keys/<int:pk>", factor_pages.rename_key, name="security-key-rename"),
    path("account/second-factor/keys/<int:pk>/remove", factor_pages.remove_key, name="security-key-remove"),
    path("account/provider", provider.join, name="account-provider-join"),
    path("account/ldap", ways.join_directory, name="account-ldap-join"),
    path("account/identities/<int:pk>/leave", ways.leave_identity, name="account-identity-leave"),
    path("account/tokens", account.add_token, name="account-token-add"),
    path("account/tokens/<int:pk>/revoke", account.drop_token, name="account-token-revoke"),
    path("saved-views/", saved_view_pages.manage, name="saved-views"),
    path("saved-views/of/<slug:key>", saved_view_pages.save, name="saved-view-save"),
    path("saved-views/<int:pk>", saved_view_pages.change, name="saved-view-change"),
    path("saved-views/<int:pk>/remove", saved_view_pages.remove, name="saved-view-remove"),
    path("people/", people_page.people, name="people"),
    path("people/invite", people_page.invite, name="person-invite"),
    path("people/<int:pk>/role", people_page.give_role, name="person-role"),
    path("people/<int:pk>/switch", people_page.let_in, name="person-switch"),
    path("people/<int:pk>/second-factor/reset", people_page.reset_second_factor, name="person-second-factor-reset"),
    path("settings/try-provider", sign_in_tests.try_provider, name="settings-try-provider"),
    path("settings/try-ldap", sign_in_tests.try_directory, name="settings-try-ldap"),
    path("audit/", trail.trail, name="audit"),
    path("audit.csv", trail.trail_csv, name="audit-csv"),
]
