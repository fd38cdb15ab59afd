"""The network of the paper, one class for each of its concepts."""

from .action_head import ActionHead
from .config import PRNetConfig
from .dgcnn import DGCNN
from .edge_conv import EdgeConv
from .keypoints import select_keypoints
from .losses import prnet_loss
from .prnet import PRNet, PRNetOutput, RegistrationPass
from .transformer import Transformer
from .value_head import ValueHead
from .weights import WeightsError, choose_device, load_network, read_card, save_network

__all__ = [
    "ActionHead",
    "DGCNN",
    "EdgeConv",
    "PRNet",
    "PRNetConfig",
    "PRNetOutput",
    "RegistrationPass",
    "Transformer",
    "ValueHead",
    "WeightsError",
    "choose_device",
    "load_network",
    "prnet_loss",
    "read_card",
    "save_network",
    "select_keypoints",
]
