"""People and their roles can be edited; tokens only revoked; the audit trail only read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.db.models import Model
from django.http import HttpRequest

from gridportal.accounts.audit import audit
from gridportal.accounts.caller import caller
from gridportal.accounts.models import ApiToken, AuditEvent, User
from gridportal.accounts.people import shut_out
from gridportal.accounts.shown_admin import ShownPersonForm
from gridportal.accounts.tokens import revoke_token

# What allauth keeps has pages of the portal's own; here one could read secrets, or join people by hand.
for _model in [model for model in admin.site._registry if model._meta.app_label in ("account", "socialaccount", "mfa")]:
    admin.site.unregister(_model)

if TYPE_CHECKING:  # as the program runs, Django's classes take no types
    _RowsAdmin = admin.ModelAdmin[Any]
    _PeopleAdmin = UserAdmin[User]
else:
    _RowsAdmin, _PeopleAdmin = admin.ModelAdmin, UserAdmin


class ReadOnlyAdmin(_RowsAdmin):
    """Rows that are a record of what happened: shown to administrators, changed by nobody."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(User)
class PersonAdmin(_PeopleAdmin):
    """People; the role is the group. People with a history are switched off, not deleted."""

    list_display = ("username", "role", "is_active", "last_login", "date_joined")
    list_filter = ("groups", "is_superuser", "is_active")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Role", {"fields": ("is_active", "groups", "is_superuser")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    readonly_fields = ("last_login", "date_joined")
    filter_horizontal = ()  # a plain choice of several: Django's two boxes have parts that screen readers cannot name
    form = ShownPersonForm

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        form: Any = super().get_form(request, obj, change=change, **options)
        form.request = request
        return form

    def changeform_view(self, request: HttpRequest, *where: Any, **options: Any) -> Any:
        response = super().changeform_view(request, *where, **options)
        shown = (getattr(response, "context_data", None) or {}).get("adminform")
        if shown is not None and getattr(shown.form, "is_conflict", False):
            response.status_code = 409
        return response

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if change and not obj.is_active and "is_active" in form.changed_data:
            shut_out(obj, actor=caller(request))

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:
        revoked = ApiToken.objects.filter(user_id=id).count() if request.method == "POST" and id.isdigit() else 0
        response = super().user_change_password(request, id, form_url)
        if revoked and not ApiToken.objects.filter(user_id=id).exists():
            messages.info(request, f"{revoked} API tokens of this person are revoked, and the sessions have ended.")
        return response

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        audit(caller(request), "person.create", obj, request=request)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        audit(caller(request), "person.change", obj, request=request, role=User.objects.get(pk=obj.pk).role)
        return super().log_change(request, obj, message)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    """Tokens can be seen (never their text) and revoked."""

    list_display = ("name", "prefix", "user", "created_at", "last_used_at", "expires_at")
    search_fields = ("name", "user__username")
    fields = ("user", "name", "prefix", "created_at", "last_used_at", "expires_at")

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return bool(request.user.is_superuser)

    def delete_model(self, request: HttpRequest, obj: ApiToken) -> None:
        revoke_token(caller(request), obj)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for token in queryset:
            revoke_token(caller(request), token)


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    """The trail; the page at /audit/ filters it better."""

    list_display = ("at", "actor_name", "action", "object_label", "address")
    list_filter = ("action",)
    search_fields = ("actor_name", "object_label")
