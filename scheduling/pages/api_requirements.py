"""REST: what a job asks of its nodes, clause by clause."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from gridportal.accounts.caller import caller
from gridportal.web.long_answers import long_answer
from scheduling.jobs.models import Job
from scheduling.matching import match_documents
from scheduling.matching.core.answers import StatusCode
from scheduling.matching.services.matches_at_once import match_of
from scheduling.pages.requirement_matches import job_match


class RequirementActions(viewsets.GenericViewSet[Job]):
    """What the view set of jobs has for it."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=True)
    def requirements(self, request: Request, pk: str) -> Response:
        """What the job asks of its nodes, matched with them as they are: clauses with how many nodes pass each, the
        clauses that exclude each other, the smallest change. Status 404 in it also while nothing is known of them."""
        row = self.get_object()
        with long_answer(caller(request).pk), match_of(caller(request).pk, text=row.classad):
            found = job_match(row)
        if found is None:
            unknown = {"code": int(StatusCode.NO_SET), "message": "Nothing is known of the nodes of this cluster now."}
            return Response({"status": unknown, "machines": [], "explanation": None})
        return Response(match_documents.document(found.answer))
