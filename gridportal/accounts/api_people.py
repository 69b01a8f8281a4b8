"""People over REST, for administrators."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from gridportal.accounts import managing, selectors
from gridportal.accounts.caller import caller
from gridportal.accounts.models import User
from gridportal.accounts.roles import ALL_ROLES
from gridportal.web.api_errors import WordedSerializer
from gridportal.web.api_permissions import may
from gridportal.web.logs_shown import LOGS, logs_shown


class PersonSerializer(serializers.ModelSerializer[User]):
    """A person of the portal."""

    email = serializers.CharField(read_only=True, help_text="Empty where the portal knows none.")
    role = serializers.CharField(read_only=True)

    class Meta:
        model = User
        fields: tuple[str, ...] = (
            *("id", "username", "email", "role", "is_active", "last_login", "date_joined", "from_log"),
        )
        read_only_fields: tuple[str, ...] = fields


class InvitedSerializer(PersonSerializer):
    """A new person; `password` is the first one, which is in no other answer."""

    password = serializers.CharField(read_only=True)

    class Meta(PersonSerializer.Meta):
        fields = (*PersonSerializer.Meta.fields, "password")
        read_only_fields = fields


class InviteSerializer(WordedSerializer):
    """Who is invited."""

    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(choices=ALL_ROLES, required=False, default="user")
    email = serializers.EmailField(max_length=254, required=False, allow_blank=True, default="")


class PersonChangeSerializer(WordedSerializer):
    """What is to change."""

    role = serializers.ChoiceField(choices=ALL_ROLES, required=False)
    is_active = serializers.BooleanField(required=False)


class People(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[User]):
    """All people; administrators invite them, give roles, and switch them off and on."""

    serializer_class = PersonSerializer
    permission_classes = [may("accounts.manage_people")]
    lookup_value_regex = "[0-9]{1,18}"
    queryset = User.objects.none()

    def get_queryset(self) -> QuerySet[User]:
        with_logs = self.action != "list" or logs_shown(self.request)
        return selectors.people(self.request.query_params.get("q", "")[:150], with_logs=with_logs)

    @extend_schema(parameters=[LOGS, OpenApiParameter("q", OpenApiTypes.STR, description="Part of a name or e-mail.")])
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Everybody; those whom only a log of jobs names, and who cannot sign in, where `logs` is true."""
        return super().list(request, *args, **kwargs)

    @extend_schema(request=InviteSerializer, responses={201: InvitedSerializer})
    def create(self, request: Request) -> Response:
        """A new person."""
        asked = InviteSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        person, password = managing.invite(caller(request), **asked.validated_data)
        return Response({**PersonSerializer(person).data, "password": password}, status=201)

    @extend_schema(request=PersonChangeSerializer, responses=PersonSerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        """Another role, or switched off or on."""
        person: Any = self.get_object()
        asked = PersonChangeSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        with transaction.atomic():  # what is refused in part changes nothing
            if "role" in asked.validated_data:
                managing.give_role(caller(request), person, asked.validated_data["role"])
            if "is_active" in asked.validated_data:
                managing.let_in(caller(request), person, asked.validated_data["is_active"])
        return Response(PersonSerializer(User.objects.get(pk=person.pk)).data)

    @extend_schema(responses={204: None})
    @action(detail=True, methods=["delete"], url_path="second-factor", url_name="second-factor")
    def second_factor(self, request: Request, pk: str) -> Response:
        """Take away the second factor of somebody who has lost it; sessions end, API tokens stay."""
        managing.reset_second_factor(caller(request), self.get_object())
        return Response(status=204)
