from django.apps import AppConfig
from django.contrib.admin import apps as admin


class AccountsConfig(AppConfig):
    name = "gridportal.accounts"
    label = "accounts"
    default = True


class PortalAdminConfig(admin.AdminConfig):
    """Django's administration with the portal's own doors."""

    default = False
    default_site = "gridportal.accounts.site.PortalAdminSite"
