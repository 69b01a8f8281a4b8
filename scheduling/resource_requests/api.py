"""Resource requests, saved requests and ads of nodes over REST: read input, check permission, call one service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from gridportal.accounts.caller import caller
from gridportal.accounts.changed_meanwhile import ChangedMeanwhileError
from gridportal.base.accepted_values import one_of
from gridportal.base.errors import InputError
from gridportal.web.api_errors import WordedSerializer, valid_data
from gridportal.web.api_limits import PersonThrottle, SubmitThrottle
from gridportal.web.api_permissions import may
from gridportal.web.shown_version import version_of
from gridportal.web.write_limit import WriteThrottle
from scheduling.matching import match_documents, selectors
from scheduling.matching.models import ResourceAd, SavedRequest
from scheduling.matching.services import saving_requests
from scheduling.messages import message
from scheduling.resource_requests.match_checks import checked_document
from scheduling.resource_requests.models import MatchEvent, MatchRequest
from scheduling.resource_requests.selectors import TABS, in_tab, requests_visible_to
from scheduling.resource_requests.services import sending_requests
from scheduling.resource_requests.services.edited_texts import (
    EVERY_NODE,
    change_ad,
    keep_request,
    version_of_ad,
    version_of_request,
)
from scheduling.resource_requests.services.trial_matches import try_match

_LONGEST = 20_000
_MAY_SEND = may("scheduling.send_match_request", read="scheduling.view_application")


class ShownVersionField(serializers.CharField):
    """What a change is compared with: `shown_version` of what was read, or any other word where nothing was there."""

    def __init__(self) -> None:
        text = "As it was read, or none where there was nothing; empty: whatever is there now is overwritten."
        super().__init__(max_length=500, required=False, allow_blank=True, default="", help_text=text)


class VirtualMachineRenderer(BaseRenderer):
    """An answer as XML. Source: Set matching 2002, 3.3."""

    media_type = "application/xml"
    format = "xml"

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        """A virtualMachine: of a request, or with the status of what is none."""
        code = renderer_context["response"].status_code if renderer_context else 200
        return match_documents.document_xml(data if isinstance(data, Mapping) else {}, code).encode()


class MatchEventSerializer(serializers.ModelSerializer[MatchEvent]):
    """One step of a request's life."""

    reason = serializers.SerializerMethodField()

    class Meta:
        model = MatchEvent
        fields = ("at", "from_state", "to_state", "actor", "reason")
        read_only_fields = fields

    def get_reason(self, row: MatchEvent) -> str:
        """The sentence; empty for none."""
        return message(row.reason)


class MatchRequestSerializer(serializers.ModelSerializer[MatchRequest]):
    """A request: seconds, the ad as `request`; times of what has not come are null."""

    owner = serializers.CharField(source="owner.username", read_only=True)
    request = serializers.CharField(source="text", read_only=True)
    reason = serializers.SerializerMethodField()
    machines = serializers.SerializerMethodField()

    class Meta:
        model = MatchRequest
        fields: tuple[str, ...] = (
            *("id", "owner", "name", "cluster", "request", "forecast", "lifetime", "state", "reason", "created_at"),
            *("expires_at", "ended_at", "tried_at", "tries", "machines"),
        )
        read_only_fields = fields

    def get_reason(self, row: MatchRequest) -> str:
        """Why it failed, or why there is no set; empty while it waits and where it was answered."""
        return message(row.reason)

    def get_machines(self, row: MatchRequest) -> list[str]:
        """The names of the set, in the order of the mapper; empty while there is none."""
        answer = row.match_answer
        return [machine.dns for machine in answer.machines] if answer else []


class MatchRequestDetailSerializer(MatchRequestSerializer):
    """The same with its steps and its answer, as `gridportal match --format json` prints it."""

    answer = serializers.SerializerMethodField()
    events = MatchEventSerializer(many=True, read_only=True)

    class Meta(MatchRequestSerializer.Meta):
        fields = (*MatchRequestSerializer.Meta.fields, "answer", "events")
        read_only_fields = fields

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_answer(self, row: MatchRequest) -> dict[str, Any] | None:
        """What the last attempt came to; null before the first."""
        found = row.match_answer
        return match_documents.document(found) if found else None


class SendSerializer(WordedSerializer):
    """A request in ClassAds. lifetime: seconds to wait; without it, and without one in the ad, it is answered now."""

    request = serializers.CharField(max_length=_LONGEST)
    cluster = serializers.CharField(max_length=60, required=False, allow_blank=True, default="")
    lifetime = serializers.IntegerField(required=False, allow_null=True, min_value=1, max_value=2_592_000, default=None)
    forecast = serializers.BooleanField(required=False, default=False)
    name = serializers.CharField(max_length=80, required=False, allow_blank=True, default="")


class CheckSerializer(WordedSerializer):
    """A request that is only tried: nothing is kept."""

    request = serializers.CharField(max_length=_LONGEST)
    cluster = serializers.CharField(max_length=60, required=False, allow_blank=True, default="")
    forecast = serializers.BooleanField(required=False, default=False)


class MatchRequests(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[MatchRequest]):
    """The caller's resource requests; everybody's for operators, managers and administrators."""

    serializer_class = MatchRequestSerializer
    lookup_value_regex = "[0-9]{1,18}"
    renderer_classes = [JSONRenderer, VirtualMachineRenderer]
    queryset = MatchRequest.objects.none()

    def get_queryset(self) -> QuerySet[MatchRequest]:
        tab = self.request.query_params.get("show", "")
        if tab and tab not in TABS:
            raise InputError("show", tab, one_of(TABS))
        return in_tab(caller(self.request), tab) if self.action == "list" else requests_visible_to(caller(self.request))

    def get_permissions(self) -> list[Any]:
        return [_MAY_SEND()] if self.action in ("create", "check") else [IsAuthenticated()]

    def get_throttles(self) -> list[Any]:
        return [SubmitThrottle() if self.action in ("create", "check") else PersonThrottle(), WriteThrottle()]

    @extend_schema(parameters=[OpenApiParameter("show", OpenApiTypes.STR, enum=list(TABS))])
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Requests, the newest first; `show` names those that wait, were answered, or are over without an answer."""
        return super().list(request, *args, **kwargs)

    @extend_schema(request=SendSerializer, responses={201: MatchRequestDetailSerializer})
    def create(self, request: Request) -> Response:
        """Send a request. A synchronous one is over in the answer: answered, or unmatched."""
        asked = valid_data(SendSerializer(data=request.data))
        sent = sending_requests.NewRequest(
            asked["request"], asked["cluster"], asked["lifetime"], asked["forecast"], asked["name"]
        )
        return self._detail(sending_requests.send_request(caller(request), sent), status.HTTP_201_CREATED)

    @extend_schema(responses=MatchRequestDetailSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        """One request with its answer and its steps; as XML the paper's virtualMachine."""
        return self._detail(self.get_object())

    @extend_schema(request=None, responses=MatchRequestDetailSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """End the wait of a request."""
        row = self.get_object()
        if not request.user.has_perm("scheduling.cancel_match_request", row):
            raise PermissionDenied("Only the owner of a request and operators may cancel it.")
        return self._detail(sending_requests.cancel_request(caller(request), row))

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=True)
    def explain(self, request: Request, pk: str) -> Response:
        """Why the last attempt found this set or none: clauses with how many resources pass each, the clauses that
        exclude each other, the smallest change."""
        found = self.get_object().match_answer
        if found is None or found.explanation is None:
            raise NotFound("This request was not tried yet.")
        return Response(match_documents.explanation_document(found))

    @extend_schema(request=CheckSerializer, responses=OpenApiTypes.OBJECT)
    @action(detail=False, methods=["post"])
    def check(self, request: Request) -> Response:
        """Try a request without keeping it: whether it can be read, and if not where; how many resources pass; why."""
        asked = valid_data(CheckSerializer(data=request.data))
        tried = try_match(caller(request), asked["request"], asked["cluster"], forecast=asked["forecast"])
        return Response(checked_document(tried))

    def _detail(self, row: MatchRequest, code: int = status.HTTP_200_OK) -> Response:
        return Response(MatchRequestDetailSerializer(row).data, status=code)


class SavedRequestSerializer(serializers.ModelSerializer[SavedRequest]):
    """A request that somebody keeps. shown_version: to be sent along with a change of it."""

    owner = serializers.CharField(source="owner.username", read_only=True)
    request = serializers.CharField(source="text", read_only=True)
    shown_version = serializers.SerializerMethodField()

    class Meta:
        model = SavedRequest
        fields = ("id", "owner", "name", "request", "shared", "changed_at", "shown_version")
        read_only_fields = fields

    def get_shown_version(self, row: SavedRequest) -> str:
        """One word for its text of now."""
        return version_of_request(row)


class SaveSerializer(WordedSerializer):
    """A request to keep under a name; `shared`: everybody may use it; without it one that is kept stays as it is, and a
    new one is for its owner alone."""

    name = serializers.CharField(max_length=80)
    request = serializers.CharField(max_length=_LONGEST)
    shared = serializers.BooleanField(required=False)
    shown_version = ShownVersionField()


class SavedRequests(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[SavedRequest]):
    """Requests that the caller keeps, and those that others share."""

    serializer_class = SavedRequestSerializer
    permission_classes = [_MAY_SEND]
    lookup_value_regex = "[0-9]{1,18}"
    queryset = SavedRequest.objects.none()

    def get_queryset(self) -> QuerySet[SavedRequest]:
        return selectors.saved_requests(caller(self.request))

    @extend_schema(
        request=SaveSerializer,
        responses={200: SavedRequestSerializer, 201: SavedRequestSerializer, 409: OpenApiTypes.OBJECT},
    )
    def create(self, request: Request) -> Response:
        """Keep a request: 201 for a new name, 200 where it replaced the one of this name. With
        `shown_version` it is answered with 409 where the one that is kept has changed since."""
        asked = valid_data(SaveSerializer(data=request.data))
        shared = asked.get("shared")
        shown, name = asked["shown_version"], asked["name"]
        try:
            made, is_replaced = keep_request(caller(request), shown, name, asked["request"], shared=shared)
        except ChangedMeanwhileError as error:
            return _changed(error, " ".join(name.split()), "request")
        code = status.HTTP_200_OK if is_replaced else status.HTTP_201_CREATED
        return Response(SavedRequestSerializer(made).data, status=code)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Forget one of one's own."""
        saving_requests.remove_request(caller(request), self.get_object())
        return Response(status=status.HTTP_204_NO_CONTENT)


class ResourceAdSerializer(serializers.ModelSerializer[ResourceAd]):
    """What administrators add to the ad of a node; `node` is empty for all nodes of the cluster."""

    ad = serializers.CharField(source="text", read_only=True)
    shown_version = serializers.SerializerMethodField()

    class Meta:
        model = ResourceAd
        fields = ("cluster", "node", "ad", "changed_by", "changed_at", "shown_version")
        read_only_fields = fields

    def get_shown_version(self, row: ResourceAd) -> str:
        """One word for its text of now."""
        return version_of_ad(row)


class SetAdSerializer(WordedSerializer):
    """The ad of a node, or of all where `node` is empty; an empty ad takes it away."""

    node = serializers.CharField(max_length=80, required=False, allow_blank=True, default="")
    ad = serializers.CharField(max_length=_LONGEST, allow_blank=True)
    shown_version = ShownVersionField()


class ResourceAds(APIView):
    """What administrators add to the ads of a cluster's nodes: who may use a node, and when."""

    permission_classes = [may("scheduling.change_resource_ad", read="scheduling.view_application")]

    @extend_schema(responses=ResourceAdSerializer(many=True))
    def get(self, request: Request, cluster: str) -> Response:
        """All of them, that of every node first."""
        return Response(self._all(cluster))

    @extend_schema(request=SetAdSerializer, responses={200: ResourceAdSerializer(many=True), 409: OpenApiTypes.OBJECT})
    def put(self, request: Request, cluster: str) -> Response:
        """Set or take away one; the answer has all. With `shown_version` it is answered with 409 where somebody has
        changed the ad of this node since."""
        asked = valid_data(SetAdSerializer(data=request.data))
        try:
            change_ad(caller(request), asked["shown_version"], cluster, asked["node"], asked["ad"])
        except ChangedMeanwhileError as error:
            return _changed(error, asked["node"] or EVERY_NODE, "ad")
        return Response(self._all(cluster))

    def _all(self, cluster: str) -> Any:
        rows: Any = selectors.resource_ads(cluster)
        return ResourceAdSerializer(rows, many=True).data


def _changed(error: ChangedMeanwhileError, name: str, field: str) -> Response:
    """Who has changed the text of this name, which has a field of the API, and what it is now."""
    now = error.now["text"]
    document = {
        "detail": error.sentence_for_programs({"text": field}),
        "now": now,
        "shown_version": version_of({name: now}),
    }
    return Response(document, status=status.HTTP_409_CONFLICT)
