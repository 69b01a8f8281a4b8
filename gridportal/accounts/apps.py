from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "gridportal.accounts"
    label = "accounts"
