"""The programs whose compilation is measured: their texts are what counts."""

from __future__ import annotations

import math

import numpy as np


def network(W1, b1, W2, b2, W3, b3, x, y):
    """The logit cross entropy of a network of three layers, as users write it."""
    h1 = np.maximum(x @ W1 + b1, 0.0)
    h2 = np.maximum(h1 @ W2 + b2, 0.0)
    z = h2 @ W3 + b3
    shifted = z - np.max(z, axis=1, keepdims=True)
    logs = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(np.sum(y * logs, axis=1))


def simulation(height, speed, drag):
    """A ball that falls through air, bounces and is pulled by a spring: fifty lines of a loop with branches."""
    gravity = 9.81
    step = 0.02
    mass = 0.4 + 0.05 * drag
    stiffness = 30.0
    wind = 0.3
    time = 0.0
    lost = 0.0
    bounces = 0
    x = 0.0
    u = 0.5 * speed
    z = height
    w = speed
    for _ in range(20):
        total = math.sqrt(u * u + w * w + 1e-9)
        density = 1.2 * math.exp(-z / 8.5)
        force = 0.5 * density * drag * total
        ax = -force * (u - wind) / mass
        az = -force * w / mass - gravity
        if z > 0.8:
            stretch = z - 0.8
            az = az - stiffness * stretch / mass
            lost = lost + 0.01 * stretch * stretch
        elif z < 0.1:
            press = 0.1 - z
            az = az + 10.0 * stiffness * press / mass
            ax = ax - 0.2 * u
        else:
            ax = ax + 0.1 * math.sin(time)
        half_u = u + 0.5 * step * ax
        half_w = w + 0.5 * step * az
        x = x + step * half_u
        z = z + step * half_w
        u = half_u + 0.5 * step * ax
        w = half_w + 0.5 * step * az
        if z < 0.0:
            z = -0.6 * z
            w = -0.6 * w
            lost = lost + 0.5 * mass * w * w
            bounces = bounces + 1
        if total > 50.0:
            break
        time = time + step
    kinetic = 0.5 * mass * (u * u + w * w)
    potential = mass * gravity * z
    swing = math.cos(x) * math.tanh(z)
    mixed = math.log(1.0 + kinetic * kinetic) + swing
    energy = kinetic + potential + lost
    if bounces > 3:
        energy = energy * 0.9
    return energy + 0.1 * mixed + 0.01 * x * x


def smoothing(values, rate):
    """Heat that spreads along a rod: an array is written in place."""
    now = values.copy()
    seen = []
    for _ in range(5):
        flow = now[1:] - now[:-1]
        now[1:-1] += rate * (flow[1:] - flow[:-1])
        now[0] = now[1] * 0.9
        now[-1] *= 0.9
        seen.append(np.sum(now * now))
    total = 0.0
    for each in seen:
        total = total + each
    return total + np.max(now)
