"""Networks written by hand: layers, cells and models as objects, trees and graphs, training inside of the function."""

from dataclasses import dataclass

import numpy as np

from benchmarks.ordinary_programs import Program
from microgradpy import gradient


class Layer:
    def __init__(self, w, b):
        self.w = w
        self.b = b

    def __call__(self, x):
        return np.tanh(x @ self.w + self.b)


def layers_inside(w1, b1, w2, b2, x, y):
    net = [Layer(w1, b1), Layer(w2, b2)]
    for layer in net:
        x = layer(x)
    return np.mean((x - y) ** 2)


def layer_arguments(n):
    draw = np.random.default_rng(n).normal
    return draw(size=(4, 16)), np.zeros(16), draw(0.0, 0.2, (16, 2)), np.zeros(2), draw(size=(n, 4)), draw(size=(n, 2))


class Dense:
    def __init__(self, inputs, outputs, activation, seed):
        self.w = np.random.default_rng(seed).normal(size=(inputs, outputs)) / np.sqrt(inputs)
        self.b = np.zeros(outputs)
        self.activation = activation

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)


def identity(x):
    return x


class Model:
    def __init__(self, *sizes):
        self.layers = [
            Dense(a, b, np.tanh if i < len(sizes) - 2 else identity, seed=i) for i, (a, b) in enumerate(zip(sizes, sizes[1:]))
        ]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def loss(predicted, y):
    return np.mean((predicted - y) ** 2)


def model_loss(model, x, y):
    return loss(model(x), y)


def model_gradient(model, x, y):
    return gradient(lambda m: loss(m(x), y), model)


def plain_loss(w1, b1, w2, b2, w3, b3, x, y):
    """The same as `model_loss`, over plain arrays."""
    h = np.tanh(x @ w1 + b1)
    h = np.tanh(h @ w2 + b2)
    return loss(h @ w3 + b3, y)


def data(n):
    draw = np.random.default_rng(n).normal
    return draw(size=(n, 4)), draw(size=(n, 2))


def model_arguments(n):
    return Model(4, 16, 16, 2), *data(n)


def plain_arguments(n):
    model, x, y = model_arguments(n)
    return *(p for layer in model.layers for p in (layer.w, layer.b)), x, y


def recurrent(w, u, b, v, xs, targets):
    h = np.zeros(len(b))
    states = []
    for x in xs:
        h = np.tanh(w @ h + u @ x + b)
        states.append(h)
    error = 0.0
    for h, target in zip(states, targets):
        error += (v @ h - target) ** 2
    return error


def recurrent_arguments(n):
    draw = np.random.default_rng(n).normal
    w, u, b, v = draw(0.0, 0.3, (12, 12)), draw(size=(12, 3)), np.zeros(12), draw(size=12)
    return w, u, b, v, draw(size=(n, 3)), draw(size=n)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class LSTM:
    def __init__(self, weights, size):
        self.weights = weights
        self.h = np.zeros(size)
        self.c = np.zeros(size)

    def step(self, x):
        z = np.concatenate([x, self.h])
        i = sigmoid(self.weights["input"] @ z)
        f = sigmoid(self.weights["forget"] @ z)
        o = sigmoid(self.weights["output"] @ z)
        g = np.tanh(self.weights["cell"] @ z)
        self.c = f * self.c + i * g
        self.h = o * np.tanh(self.c)
        return self.h


def lstm(weights, xs):
    cell = LSTM(weights, 8)
    outputs = [cell.step(x) for x in xs]
    return np.mean(np.array(outputs) ** 2)


def lstm_arguments(n):
    draw = np.random.default_rng(n).normal
    return {name: draw(0.0, 0.3, (8, 11)) for name in ("input", "forget", "output", "cell")}, draw(size=(n, 3))


@dataclass
class Phrase:
    word: int = -1
    left: "Phrase" = None
    right: "Phrase" = None


def encode(phrase, words, w, b):
    if phrase.left is None:
        return words[phrase.word]
    left, right = encode(phrase.left, words, w, b), encode(phrase.right, words, w, b)
    return np.tanh(w @ np.concatenate([left, right]) + b)


def tree_network(words, w, b, phrase):
    return np.sum(encode(phrase, words, w, b) ** 2)


def balanced(start, depth):
    if depth == 0:
        return Phrase(word=start % 10)
    return Phrase(left=balanced(start, depth - 1), right=balanced(start + 2 ** (depth - 1), depth - 1))


def tree_arguments(n):
    draw = np.random.default_rng(0).normal
    return draw(size=(10, 4)), draw(0.0, 0.5, (4, 8)), np.zeros(4), balanced(0, n)


def neural_ode(layers, x, steps):
    def rates(x):
        for w, b in layers:
            x = np.tanh(w @ x + b)
        return x

    h = 1.0 / steps
    for _ in range(steps):
        middle = x + 0.5 * h * rates(x)
        x = x + h * rates(middle)
    return np.sum(x**2)


def ode_arguments(n):
    draw = np.random.default_rng(0).normal
    return [(draw(size=(8, 4)), np.zeros(8)), (draw(size=(4, 8)), np.zeros(4))], draw(size=4), n


class Normalised:
    """A layer that remembers mean and variance of what it has seen."""

    def __init__(self, scale, shift):
        self.scale, self.shift = scale, shift
        self.mean = np.zeros(len(scale))
        self.variance = np.ones(len(scale))

    def __call__(self, x):
        mean, variance = x.mean(axis=0), x.var(axis=0)
        self.mean = 0.9 * self.mean + 0.1 * mean
        self.variance = 0.9 * self.variance + 0.1 * variance
        return self.scale * (x - mean) / np.sqrt(variance + 1e-5) + self.shift


def batch_normalisation(w, scale, shift, batches):
    norm = Normalised(scale, shift)
    total = 0.0
    for x in batches:
        total = total + np.mean(np.tanh(norm(x @ w)) ** 3)
    return total + np.sum(norm.mean**2) + np.sum(norm.variance)


def batch_arguments(n):
    draw = np.random.default_rng(n).normal
    return draw(size=(3, 5)), np.ones(5), np.zeros(5), [draw(size=(16, 3)) for _ in range(n)]


def message_passing(features, w_self, w_neighbour, graph, rounds):
    states = {node: features[node] for node in graph}
    for _ in range(rounds):
        new = {}
        for node, neighbours in graph.items():
            message = sum(states[other] for other in neighbours) / len(neighbours)
            new[node] = np.tanh(w_self @ states[node] + w_neighbour @ message)
        states = new
    return sum(np.sum(state**2) for state in states.values())


def graph_arguments(n):
    draw = np.random.default_rng(n).normal
    graph = {i: [(i + 1) % n, (i - 1) % n, (i * i + 2) % n] for i in range(n)}
    return draw(size=(n, 4)), draw(0.0, 0.5, (4, 4)), draw(0.0, 0.5, (4, 4)), graph, 3


def unrolled_training(rate, momentum, w, x, y, steps):
    """Gradient descent, the rate of which is to be learnt."""
    velocity = np.zeros(len(w))
    losses = []
    for _ in range(steps):
        error = x @ w - y
        velocity = momentum * velocity - rate * (x.T @ error) / len(y)
        w = w + velocity
        losses.append(np.mean(error**2))
    return losses[-1]


def training_arguments(n):
    draw = np.random.default_rng(0).normal
    return 0.1, 0.5, np.zeros(5), draw(size=(20, 5)), draw(size=20), n


def attention(params, x):
    heads = []
    for head in params["heads"]:
        q, k, v = x @ head["q"], x @ head["k"], x @ head["v"]
        scores = q @ k.T / np.sqrt(q.shape[1])
        scores = scores - scores.max(axis=1, keepdims=True)
        weights = np.exp(scores)
        weights = weights / weights.sum(axis=1, keepdims=True)
        heads.append(weights @ v)
    return np.mean((np.concatenate(heads, axis=1) @ params["out"] - x) ** 2)


def attention_arguments(n):
    draw = np.random.default_rng(0).normal
    heads = [{name: draw(0.0, 0.3, (8, 4)) for name in "qkv"} for _ in range(4)]
    return {"heads": heads, "out": draw(0.0, 0.3, (16, 8))}, draw(size=(n, 8))


PROGRAMS = (
    Program("net of Layer objects made inside", layers_inside, layer_arguments, 1500, 2, "examples", (0, 1, 2, 3)),
    Program("model of Dense objects, argument", model_loss, model_arguments, 800, 2, "examples"),
    Program("model of Dense objects, lambda", model_loss, model_arguments, 800, 2, "examples", asked=model_gradient),
    Program("the same over plain arrays", plain_loss, plain_arguments, 800, 2, "examples", (0, 1, 2, 3, 4, 5)),
    Program("RNN, states appended", recurrent, recurrent_arguments, 60, 3, "steps", (0, 1, 2, 3)),
    Program("LSTM cell as a class, dict", lstm, lstm_arguments, 30, 2, "steps"),
    Program("tree network", tree_network, tree_arguments, 6, 2, "levels", (0, 1, 2)),
    Program("neural ODE, list of layers", neural_ode, ode_arguments, 30, 2, "steps", (0, 1)),
    Program("batch normalisation, running means", batch_normalisation, batch_arguments, 15, 2, "batches", (0, 1, 2)),
    Program("message passing, dict of nodes", message_passing, graph_arguments, 15, 4, "nodes", (0, 1, 2)),
    Program("training inside", unrolled_training, training_arguments, 60, 3, "steps", (0, 1)),
    Program("attention, nested dicts and lists", attention, attention_arguments, 24, 3, "tokens"),
)
