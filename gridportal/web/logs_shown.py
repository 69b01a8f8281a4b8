"""Whether a list over REST has what came from logs of other systems, too."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request

from gridportal.web.api_errors import WordedSerializer, valid_data

LOGS = OpenApiParameter(
    "logs", OpenApiTypes.BOOL, description="true: those of logs that were read (gridportal workload import), too."
)


class LogsShownSerializer(WordedSerializer):
    """What the address of such a list may say."""

    logs = serializers.BooleanField(required=False, default=False)


def logs_shown(request: Request) -> bool:
    """Whether the caller asks for them. Raises ValidationError for what is neither true nor false."""
    return bool(valid_data(LogsShownSerializer(data=request.query_params))["logs"])
