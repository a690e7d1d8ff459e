"""Neural networks: layers, activations, losses and optimisers. Samples are rows; classes are the last axis."""

from __future__ import annotations

from microgradpy.nn.activations import logsoftmax as logsoftmax
from microgradpy.nn.activations import relu as relu
from microgradpy.nn.activations import sigmoid as sigmoid
from microgradpy.nn.activations import softmax as softmax
from microgradpy.nn.activations import tanh_act as tanh_act
from microgradpy.nn.layers import Chain as Chain
from microgradpy.nn.layers import Dense as Dense
from microgradpy.nn.losses import cross_entropy as cross_entropy
from microgradpy.nn.losses import hinge_loss as hinge_loss
from microgradpy.nn.losses import logit_cross_entropy as logit_cross_entropy
from microgradpy.nn.losses import mse as mse
from microgradpy.nn.optimizers import SGD as SGD
from microgradpy.nn.optimizers import Adam as Adam

__all__ = [
    "SGD",
    "Adam",
    "Chain",
    "Dense",
    "cross_entropy",
    "hinge_loss",
    "logit_cross_entropy",
    "logsoftmax",
    "mse",
    "relu",
    "sigmoid",
    "softmax",
    "tanh_act",
]
