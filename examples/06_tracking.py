"""A small probabilistic program with stochastic control flow: its random variables in a trace, and inference by updating it.

Somebody counts how often a machine fails before it runs; a second, unreliable sensor is asked only in some of the runs. The
program draws from its prior, and observes data. A context remembers of each draw its name, its distribution and its
log-probability, as metadata of the node. Metropolis-Hastings then changes one draw at a time: `node.update(value)` computes
only what depends on it, draws what lies on a new branch, and keeps every other draw.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from microgradpy.tracking import Axis, CallNode, Context, NestedCallNode, Node, print_levels, track, update


@dataclass(frozen=True)
class Normal:
    mean: float
    deviation: float

    def draw(self) -> float:
        return random.gauss(self.mean, self.deviation)

    def log_probability(self, x: float) -> float:
        return -0.5 * ((x - self.mean) / self.deviation) ** 2 - math.log(self.deviation)


@dataclass(frozen=True)
class Bernoulli:
    chance: float

    def draw(self) -> bool:
        return random.random() < self.chance

    def log_probability(self, x: bool) -> float:
        return math.log(self.chance if x else 1.0 - self.chance)


def sample(name: str, distribution: Any) -> Any:
    return distribution.draw()


def observe(name: str, distribution: Any, data: float) -> float:
    return data


def failures(rate: float, n: int) -> int:
    """How often it fails before it runs: a geometric variable, by recursion."""
    return n if sample("runs", Bernoulli(rate)) else failures(rate, n + 1)


def model(readings: list[float]) -> tuple[float, int]:
    level = sample("level", Normal(0.0, 2.0))
    if sample("is biased", Bernoulli(0.3)):
        bias = sample("bias", Normal(1.0, 0.5))
    else:
        bias = 0.0
    for reading in readings:
        observe("reading", Normal(level + bias, 0.5), reading)
    return level, failures(0.6, 0)


class RandomVariables(Context):
    """Draws and observations are not looked into; the node of each gets what is known of it."""

    def can_recur(self, call: Any) -> bool:
        return call.f not in (sample, observe) and super().can_recur(call)

    def tracked_primitive(self, call: Any) -> CallNode:
        node = super().tracked_primitive(call)
        if call.f in (sample, observe):
            name, distribution = call.args[:2]
            node.metadata.update(variable=name, observed=call.f is observe)
            node.metadata["log_p"] = distribution.log_probability(node.value)
        return node


def variables(trace: NestedCallNode) -> Iterator[Node]:
    return (node for node in trace.query(Axis.DESCENDANT) if "variable" in node.metadata)


def log_probability(trace: NestedCallNode) -> float:
    total = 0.0
    for node in variables(trace):
        assert isinstance(node, CallNode)
        # The distribution is what it was called with, and the value may have been updated.
        total += node.arguments[1].value.log_probability(node.value)
    return total


def log_of_bias(trace: NestedCallNode) -> float:
    """The log-probability of the bias, if there is one."""
    return sum(node.metadata["log_p"] for node in variables(trace) if node.metadata["variable"] == "bias")


def step(trace: NestedCallNode) -> NestedCallNode:
    """One proposal: another value for one draw, or none if the run has no such draw."""
    name = random.choice(("level", "bias", "is biased"))
    chosen = next((node for node in variables(trace) if node.metadata["variable"] == name), None)
    if chosen is None:
        return trace
    switches = name == "is biased"
    proposed = update(trace, {chosen: not chosen.value if switches else chosen.value + random.gauss(0.0, 0.8)})
    ratio = log_probability(proposed) - log_probability(trace)
    if switches:
        # A bias that comes or goes is drawn from its prior, which is how it is proposed.
        ratio += log_of_bias(trace) - log_of_bias(proposed)
    return proposed if math.log(random.random()) < ratio else trace


def main() -> None:
    random.seed(4)
    readings = [1.9, 2.3, 2.1]
    trace = track(model, readings, context=RandomVariables())
    assert isinstance(trace, NestedCallNode)
    print("One run of the program, two levels of it:\n")
    print_levels(trace, 2)
    print("\nIts random variables:\n")
    for node in variables(trace):
        name, log_p = node.metadata["variable"], node.metadata["log_p"]
        print(f"  {name:10} {node.value!s:22} in {node.parent.function}  {log_p:.3f}")

    levels, biased = [], 0
    for _ in range(4000):
        trace = step(trace)
        levels.append(trace.value[0])
        biased += any(node.metadata["variable"] == "bias" for node in variables(trace))
    mean = sum(levels) / len(levels)
    print(f"\nPosterior: level {mean:.2f} (the prior says 0.00), biased in {biased / 40:.0f} % of the runs")


if __name__ == "__main__":
    main()
