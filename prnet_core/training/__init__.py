"""Training PRNet on pairs made from single clouds."""

from .config import TrainingConfig, load_training_config, make_training_config
from .trainer import Trainer

__all__ = ["Trainer", "TrainingConfig", "load_training_config", "make_training_config"]
