"""The caller, the caller's tokens, and the audit trail, over REST."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from gridportal.accounts.caller import caller
from gridportal.accounts.models import ApiToken, AuditEvent
from gridportal.accounts.roles import MAY
from gridportal.accounts.selectors import audit_events
from gridportal.accounts.serializers import (
    AuditEventSerializer,
    AuditFilterSerializer,
    MadeTokenSerializer,
    MeSerializer,
    NewTokenSerializer,
    TokenSerializer,
)
from gridportal.accounts.tokens import create_token, revoke_token
from gridportal.web.api_permissions import may
from gridportal.web.paging import LongList


class Me(APIView):
    """Who am I, and what may I do?"""

    @extend_schema(responses=MeSerializer)
    def get(self, request: Request) -> Response:
        person = caller(request)
        return Response({"username": person.username, "role": person.role, "may": MAY[person.role]})


class Tokens(generics.ListAPIView[ApiToken]):
    """The caller's API tokens. A new one's text is in the answer that makes it and nowhere else."""

    serializer_class = TokenSerializer
    queryset = ApiToken.objects.none()

    def get_queryset(self) -> QuerySet[ApiToken]:
        return ApiToken.objects.filter(user=caller(self.request))

    @extend_schema(request=NewTokenSerializer, responses={201: MadeTokenSerializer})
    def post(self, request: Request) -> Response:
        if isinstance(request.auth, ApiToken):
            raise PermissionDenied("A token cannot make tokens; sign in and make it on your account page.")
        asked = NewTokenSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        token, text = create_token(caller(request), **asked.validated_data)
        return Response(TokenSerializer(token).data | {"token": text}, status=status.HTTP_201_CREATED)


class Token(generics.DestroyAPIView[ApiToken]):
    """Revoke one of the caller's tokens."""

    serializer_class = TokenSerializer
    queryset = ApiToken.objects.none()

    def get_queryset(self) -> QuerySet[ApiToken]:
        return ApiToken.objects.filter(user=caller(self.request))

    def perform_destroy(self, instance: ApiToken) -> None:
        revoke_token(caller(self.request), instance)


@extend_schema(parameters=[AuditFilterSerializer])
class Audit(generics.ListAPIView[AuditEvent]):
    """Who did what to what, newest first; for operators, managers and administrators."""

    serializer_class = AuditEventSerializer
    permission_classes = [may("accounts.view_audit")]

    def get_queryset(self) -> QuerySet[AuditEvent]:
        asked = AuditFilterSerializer(data=self.request.query_params)
        asked.is_valid(raise_exception=True)
        return audit_events(asked.validated_data)

    def filter_queryset(self, queryset: QuerySet[Any]) -> LongList[AuditEvent]:  # type: ignore[override]  # enough to page
        return LongList(queryset)
