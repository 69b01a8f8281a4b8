"""The network over REST: as one node-link document, in parts, and measured again on request."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from gridportal.accounts.caller import caller
from gridportal.accounts.services import Subject, audit
from gridportal.web.api_permissions import may
from monitoring import tasks
from monitoring.clusters import selectors as clusters_selectors
from monitoring.clusters.models import Cluster
from monitoring.status.selectors import remos_queries
from monitoring.status.serializers import (
    ClusterChoiceSerializer,
    FlowQuerySerializer,
    FlowsSerializer,
    LinkSerializer,
    LogicalQuerySerializer,
    LogicalSerializer,
    MeasurementSerializer,
    NetworkSerializer,
    NetworkStatusSerializer,
    NodeSerializer,
)


class _NetworkView(APIView):
    permission_classes = [may("monitoring.view_network")]


class Network(_NetworkView):
    """The whole network with its measured values."""

    @extend_schema(parameters=[ClusterChoiceSerializer], responses=NetworkSerializer)
    def get(self, request: Request) -> Response:
        """A node-link document, as topology files are."""
        cluster = cluster_of(request.query_params)
        document = {
            "directed": cluster.directed,
            "multigraph": False,
            "graph": {
                "name": cluster.topology or cluster.name,
                "kind": cluster.kind,
                **({"routing": cluster.routing} if cluster.routing else {}),
            },
            "status": cluster,
            "nodes": clusters_selectors.nodes(cluster.name),
            "links": clusters_selectors.links(cluster.name),
        }
        return Response(NetworkSerializer(document).data)


class NetworkNodes(_NetworkView):
    """The nodes alone."""

    @extend_schema(
        operation_id="network_nodes_list",
        parameters=[ClusterChoiceSerializer],
        responses=NodeSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        """Compute and network nodes in the topology's order."""
        return Response(NodeSerializer(clusters_selectors.nodes(cluster_of(request.query_params).name), many=True).data)


class NetworkLinks(_NetworkView):
    """The links alone."""

    @extend_schema(
        operation_id="network_links_list",
        parameters=[ClusterChoiceSerializer],
        responses=LinkSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        """Links with what of them is available."""
        return Response(LinkSerializer(clusters_selectors.links(cluster_of(request.query_params).name), many=True).data)


class NetworkStatus(_NetworkView):
    """How the measuring goes."""

    @extend_schema(parameters=[ClusterChoiceSerializer], responses=NetworkStatusSerializer)
    def get(self, request: Request) -> Response:
        """When it was measured, at what cost, and what went wrong."""
        return Response(NetworkStatusSerializer(cluster_of(request.query_params)).data)


class NetworkFlows(_NetworkView):
    """What flows would get."""

    @extend_schema(request=FlowQuerySerializer, responses=FlowsSerializer)
    def post(self, request: Request) -> Response:
        """Max-min fair rates of flows asked together, with what binds each; now, over a window, or forecast."""
        asked = FlowQuerySerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        cluster, shared = cluster_of(asked.validated_data).name, asked.validated_data["half_duplex"]
        return Response(remos_queries.flows(cluster, asked.asked(), when=asked.when(), half_duplex=shared))


class NetworkLogical(_NetworkView):
    """The part of the network that matters for some nodes."""

    @extend_schema(parameters=[LogicalQuerySerializer], responses=LogicalSerializer)
    def get(self, request: Request) -> Response:
        """A node-link document; chains of switches are one link, which says what it stands for."""
        asked = LogicalQuerySerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        return Response(remos_queries.logical(cluster_of(asked.validated_data).name, asked.names(), when=asked.when()))


class Measure(APIView):
    """Have the network measured now."""

    permission_classes = [may("monitoring.measure_network")]

    @extend_schema(request=ClusterChoiceSerializer, responses={202: MeasurementSerializer})
    def post(self, request: Request) -> Response:
        """202: a worker will measure it; /api/network/status says when that is done."""
        asked = ClusterChoiceSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        name = asked.validated_data["cluster"]
        clusters_selectors.setting(name)
        audit(caller(request), "network.measure", Subject("cluster", name, name))
        tasks.measure_network.delay_on_commit(name, max_age=0)
        message = "A measurement is asked for; it takes a few seconds."
        return Response({"detail": message, "cluster": name}, status=status.HTTP_202_ACCEPTED)


def cluster_of(params: Any) -> Cluster:
    """The cluster that a request means. Raises NotFound for one that nothing is known of."""
    asked = ClusterChoiceSerializer(data={"cluster": params["cluster"]} if "cluster" in params else {})
    asked.is_valid(raise_exception=True)
    name = asked.validated_data["cluster"]
    found = clusters_selectors.cluster(name)
    if found is None:
        raise NotFound(f"No cluster called {name!r} was ever reached; is the Grid up and the worker running?")
    return found
