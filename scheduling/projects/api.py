"""Projects over REST."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from gridportal.accounts.caller import caller
from gridportal.web.api_errors import WordedSerializer, valid_data
from gridportal.web.api_permissions import may
from gridportal.web.held_object import HeldObject
from scheduling.jobs.project_models import Project
from scheduling.projects import selectors, services


class ProjectSerializer(serializers.ModelSerializer[Project]):
    """A project with the names of its members."""

    members = serializers.ListField(child=serializers.CharField(), source="member_names", read_only=True)

    class Meta:
        model = Project
        fields = ("name", "description", "members")
        read_only_fields = fields


class NewProjectSerializer(WordedSerializer):
    """What an administrator says of a project."""

    name = serializers.SlugField(max_length=60)
    description = serializers.CharField(max_length=500, required=False, allow_blank=True)
    members = serializers.ListField(child=serializers.CharField(max_length=150), required=False, max_length=20_000)


class Projects(HeldObject, mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Project]):
    """The projects that the caller sees: the own ones; all for operators, managers and administrators."""

    serializer_class = ProjectSerializer
    permission_classes = [may("scheduling.manage_projects", read="scheduling.view_projects")]
    lookup_field = "name"
    lookup_value_regex = "[-a-zA-Z0-9_]+"
    queryset = Project.objects.none()

    def get_queryset(self) -> QuerySet[Project]:
        return selectors.projects_of(caller(self.request)).prefetch_related("members")

    @extend_schema(request=NewProjectSerializer, responses={201: ProjectSerializer})
    def create(self, request: Request) -> Response:
        """Make one."""
        asked = {"description": "", "members": []} | valid_data(NewProjectSerializer(data=request.data))
        return Response(ProjectSerializer(services.save_project(caller(request), None, **asked)).data, status=201)

    @extend_schema(request=NewProjectSerializer, responses=ProjectSerializer)
    def partial_update(self, request: Request, name: str) -> Response:
        """Change what the body names; `members` replaces all of them."""
        asked = valid_data(NewProjectSerializer(data=request.data, partial=True))
        with self.held_object() as row:
            members = list(row.members.values_list("username", flat=True))
            own = {"name": row.name, "description": row.description, "members": members}
            changed = services.save_project(caller(request), Project.objects.get(pk=row.pk), **own | asked)
        return Response(ProjectSerializer(changed).data)
