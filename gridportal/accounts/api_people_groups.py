"""Groups of people over REST, for administrators."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from gridportal.accounts import people_groups
from gridportal.accounts.caller import caller
from gridportal.accounts.group_role_models import GIVEN_ROLES
from gridportal.accounts.models import User
from gridportal.web.api_errors import WordedSerializer, valid_data
from gridportal.web.api_permissions import may


class GroupSerializer(serializers.ModelSerializer[Group]):
    """A group of people: who is in it, and what it gives them."""

    role = serializers.SerializerMethodField(help_text="The role that it gives; empty for none.")
    members = serializers.SerializerMethodField()
    permissions = serializers.SerializerMethodField(help_text="What it lets its members do with moves of jobs.")

    class Meta:
        model = Group
        fields = ("id", "name", "role", "members", "permissions")
        read_only_fields = fields

    def get_role(self, group: Group) -> str:
        return people_groups.role_given(group)

    def get_members(self, group: Group) -> list[str]:
        return sorted(person.username for person in group.user_set.all())

    def get_permissions(self, group: Group) -> list[str]:
        return sorted(permission.codename for permission in group.permissions.all())


class NewGroupSerializer(WordedSerializer):
    """What is said of a new group."""

    name = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(choices=GIVEN_ROLES, required=False, allow_blank=True, default="")
    members = serializers.ListField(child=serializers.CharField(max_length=150), required=False, max_length=20_000)
    permissions = serializers.ListField(child=serializers.CharField(max_length=100), required=False, max_length=100)


class GroupChangeSerializer(WordedSerializer):
    """What is to change; `members` and `permissions` replace all of them."""

    name = serializers.CharField(max_length=150, required=False)
    role = serializers.ChoiceField(choices=GIVEN_ROLES, required=False, allow_blank=True)
    members = serializers.ListField(child=serializers.CharField(max_length=150), required=False, max_length=20_000)
    permissions = serializers.ListField(child=serializers.CharField(max_length=100), required=False, max_length=100)


class PeopleGroups(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Group]):
    """Groups of people; administrators make and change them."""

    serializer_class = GroupSerializer
    permission_classes = [may("accounts.manage_people")]
    lookup_value_regex = "[0-9]{1,18}"
    queryset = Group.objects.none()

    def get_queryset(self) -> QuerySet[Group]:
        return people_groups.people_groups().prefetch_related("user_set", "permissions")

    @extend_schema(request=NewGroupSerializer, responses={201: GroupSerializer})
    def create(self, request: Request) -> Response:
        """Make one."""
        asked = valid_data(NewGroupSerializer(data=request.data))
        with transaction.atomic():  # what is refused in part makes nothing
            made = people_groups.make_group(caller(request), asked.pop("name"))
            _change(caller(request), made, {name: value for name, value in asked.items() if value})
        return Response(self._answer(made.pk), status=201)

    @extend_schema(request=GroupChangeSerializer, responses=GroupSerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        """Change what the body names."""
        group: Any = self.get_object()
        asked = valid_data(GroupChangeSerializer(data=request.data))
        with transaction.atomic():
            if "name" in asked:
                people_groups.rename_group(caller(request), group, asked.pop("name"))
            _change(caller(request), group, asked)
        return Response(self._answer(group.pk))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Remove one; its members stay as they are."""
        people_groups.remove_group(caller(request), self.get_object())
        return Response(status=204)

    def _answer(self, pk: int) -> dict[str, Any]:
        return dict(GroupSerializer(self.get_queryset().get(pk=pk)).data)


def _change(actor: User, group: Group, asked: dict[str, Any]) -> None:
    if "role" in asked:
        people_groups.give_group_role(actor, group, asked["role"])
    if "permissions" in asked:
        people_groups.give_permissions(actor, group, asked["permissions"])
    if "members" in asked:
        _set_members(actor, group, set(asked["members"]))


def _set_members(actor: User, group: Group, names: set[str]) -> None:
    people = {person.username: person for person in group.user_set.all()}
    for gone in sorted(people.keys() - names):
        people_groups.drop_member(actor, group, people[gone])
    if new := sorted(names - people.keys()):
        people_groups.add_members(actor, group, new)
