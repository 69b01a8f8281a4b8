"""One's own views of lists over REST."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from gridportal.accounts import saved_views
from gridportal.accounts.caller import caller
from gridportal.accounts.list_pages import LISTS, list_page
from gridportal.accounts.saved_view_models import SavedView
from gridportal.web.api_errors import WordedSerializer, valid_data


class SavedViewSerializer(serializers.ModelSerializer[SavedView]):
    """A view of a list: filters, sort and columns under a name."""

    address = serializers.CharField(source="get_absolute_url", read_only=True, help_text="The list as it shows it.")

    class Meta:
        model = SavedView
        fields = ("id", "list", "name", "query", "is_default", "changed_at", "address")
        read_only_fields = fields


class NewViewSerializer(WordedSerializer):
    """What is to be kept. `query` is what follows the ? in the list's address: state=failed&sort=-submitted."""

    list = serializers.ChoiceField(choices=list(LISTS))
    name = serializers.CharField(max_length=60)
    query = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")
    is_default = serializers.BooleanField(required=False, default=False, help_text="The list begins with it.")


class ViewChangeSerializer(WordedSerializer):
    """What is to change."""

    name = serializers.CharField(max_length=60, required=False)
    query = serializers.CharField(max_length=2000, required=False, allow_blank=True)
    is_default = serializers.BooleanField(required=False)


class SavedViews(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[SavedView]):
    """Views of lists that the caller keeps; nobody else sees them."""

    serializer_class = SavedViewSerializer
    permission_classes = [IsAuthenticated]
    lookup_value_regex = "[0-9]{1,18}"
    queryset = SavedView.objects.none()

    def get_queryset(self) -> QuerySet[SavedView]:
        key = self.request.query_params.get("list", "")
        return saved_views.saved_views(caller(self.request), list_page(key).key if key else "")

    @extend_schema(parameters=[OpenApiParameter("list", str, enum=list(LISTS), description="Only of this list.")])
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """By list and name."""
        return super().list(request, *args, **kwargs)

    @extend_schema(request=NewViewSerializer, responses={201: SavedViewSerializer})
    def create(self, request: Request) -> Response:
        """Keep another one."""
        asked = valid_data(NewViewSerializer(data=request.data))
        view = saved_views.save_view(
            caller(request), asked["list"], asked["name"], asked["query"], is_default=asked["is_default"]
        )
        return Response(SavedViewSerializer(view).data, status=201)

    @extend_schema(request=ViewChangeSerializer, responses=SavedViewSerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        """Another name, other filters, or the one that the list begins with."""
        view: Any = self.get_object()
        asked = valid_data(ViewChangeSerializer(data=request.data))
        return Response(SavedViewSerializer(saved_views.change_view(view, **asked)).data)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Forget one."""
        self.get_object().delete()
        return Response(status=204)
