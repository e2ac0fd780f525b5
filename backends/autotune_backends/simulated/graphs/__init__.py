"""ONNX graphs on devices that one does not own: a roofline for every kernel that their nodes make."""

from autotune_backends.simulated.graphs.offers import graph_offer, widest_graph_offer
from autotune_backends.simulated.graphs.prediction import predict_graph
from autotune_backends.simulated.graphs.screening import screened_graph

__all__ = ["graph_offer", "predict_graph", "screened_graph", "widest_graph_offer"]
