"""Filters, time series, likelihoods and dynamic programming over sequences."""

import math
from dataclasses import dataclass, field

import numpy as np

from benchmarks.ordinary_programs import Program


class Kalman:
    def __init__(self, F, H, Q, R):
        self.F, self.H, self.Q, self.R = F, H, Q, R
        self.x = np.zeros(F.shape[0])
        self.P = np.eye(F.shape[0])
        self.loglik = 0.0

    def predict(self):
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.Q

    def update(self, z):
        y = z - self.H @ self.x
        S = self.H @ self.P @ self.H.T + self.R
        K = self.P @ self.H.T @ np.linalg.inv(S)
        self.x = self.x + K @ y
        self.P = (np.eye(len(self.x)) - K @ self.H) @ self.P
        self.loglik = self.loglik - 0.5 * (y @ np.linalg.solve(S, y) + np.log(np.linalg.det(S)))


def kalman(F, Q, R, zs):
    kf = Kalman(F, np.array([[1.0, 0.0]]), Q, R)
    for z in zs:
        kf.predict()
        kf.update(z)
    return kf.loglik


def kalman_arguments(n):
    zs = np.cumsum(np.random.default_rng(n).normal(size=(n, 1)), axis=0)
    return np.array([[1.0, 0.1], [0.0, 1.0]]), 0.1 * np.eye(2), np.array([[0.5]]), zs


@dataclass
class Particle:
    position: float
    weight: float


class ParticleFilter:
    def __init__(self, particles, noise):
        self.particles = particles
        self.noise = noise
        self.loglik = 0.0

    def move(self, drift, shocks):
        for particle, shock in zip(self.particles, shocks):
            particle.position = drift * particle.position + self.noise * shock

    def weigh(self, observed, spread):
        for particle in self.particles:
            particle.weight *= math.exp(-0.5 * ((observed - particle.position) / spread) ** 2) / spread
        total = sum(particle.weight for particle in self.particles)
        self.loglik += math.log(total)
        for particle in self.particles:
            particle.weight /= total

    def resample(self):
        """Systematic resampling."""
        n = len(self.particles)
        chosen, i, reached = [], 0, self.particles[0].weight
        for k in range(n):
            while reached < (k + 0.5) / n and i < n - 1:
                i += 1
                reached += self.particles[i].weight
            chosen.append(Particle(self.particles[i].position, 1.0 / n))
        self.particles = chosen


def particle_filter(drift, noise, spread, shocks, observations):
    pf = ParticleFilter([Particle(0.2 * i - 1.0, 0.1) for i in range(10)], noise)
    for shock, observed in zip(shocks, observations):
        pf.move(drift, shock)
        pf.weigh(observed, spread)
        pf.resample()
    return pf.loglik


def particle_arguments(n):
    draw = np.random.default_rng(n)
    return 0.9, 0.5, 0.8, draw.normal(size=(n, 10)).tolist(), draw.normal(size=n).tolist()


def garch(omega, alpha, beta, returns):
    variance = [sum(r * r for r in returns) / len(returns)]
    for r in returns[:-1]:
        variance.append(omega + alpha * r**2 + beta * variance[-1])
    return 0.5 * sum(math.log(2 * math.pi * v) + r**2 / v for r, v in zip(returns, variance))


def arma(phi, theta, mean, values):
    errors = []
    for t in range(len(values)):
        forecast = mean
        for lag, p in enumerate(phi, start=1):
            if t - lag >= 0:
                forecast += p * (values[t - lag] - mean)
        for lag, q in enumerate(theta, start=1):
            if t - lag >= 0:
                forecast += q * errors[t - lag]
        errors.append(values[t] - forecast)
    return sum(e * e for e in errors)


def hidden_markov(start, transition, emission, seen):
    states = range(len(start))
    forward = [start[s] * emission[s][seen[0]] for s in states]
    loglik = 0.0
    for symbol in seen[1:]:
        forward = [sum(forward[r] * transition[r][s] for r in states) * emission[s][symbol] for s in states]
        scale = sum(forward)
        loglik += math.log(scale)
        forward = [f / scale for f in forward]
    return loglik + math.log(sum(forward))


def markov_arguments(n):
    transition = [[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]
    emission = [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.3, 0.5]]
    return [0.5, 0.3, 0.2], transition, emission, [(i * i) % 3 for i in range(n)]


def soft_min(values, gamma):
    low = min(values)
    return low - gamma * math.log(sum(math.exp(-(v - low) / gamma) for v in values))


def soft_dtw(x, y, gamma):
    n, m = len(x), len(y)
    r = [[1e6] * (m + 1) for _ in range(n + 1)]
    r[0][0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            r[i][j] = cost + soft_min([r[i - 1][j], r[i][j - 1], r[i - 1][j - 1]], gamma)
    return r[n][m]


def edit_distance(insert, delete, change, gamma, a, b):
    """The softened edit distance of two texts; the row before is all that is kept."""
    row = [j * insert for j in range(len(b) + 1)]
    for i, p in enumerate(a, start=1):
        new = [i * delete]
        for j, q in enumerate(b, start=1):
            swap = row[j - 1] + (0.0 if p == q else change)
            new.append(soft_min((row[j] + delete, new[j - 1] + insert, swap), gamma))
        row = new
    return row[-1]


def knapsack(values, temperature, weights, capacity):
    best = [0.0] * (capacity + 1)
    for value, weight in zip(values, weights):
        for c in range(capacity, weight - 1, -1):
            take = best[c - weight] + value
            d = (take - best[c]) / temperature
            best[c] += temperature * math.log(1.0 + math.exp(d))
    return best[capacity]


@dataclass
class Component:
    weight: float
    mean: float
    sd: float

    def density(self, x):
        return self.weight * math.exp(-0.5 * ((x - self.mean) / self.sd) ** 2) / self.sd


@dataclass
class Mixture:
    components: list = field(default_factory=list)

    def loglik(self, data):
        return sum(math.log(sum(c.density(x) for c in self.components)) for x in data)

    def improve(self, data):
        shares = [[c.density(x) for c in self.components] for x in data]
        shares = [[s / sum(row) for s in row] for row in shares]
        for k, c in enumerate(self.components):
            n = sum(row[k] for row in shares)
            c.weight = n / len(data)
            c.mean = sum(row[k] * x for row, x in zip(shares, data)) / n
            c.sd = math.sqrt(sum(row[k] * (x - c.mean) ** 2 for row, x in zip(shares, data)) / n + 1e-3)


def mixture(data, left, right, rounds):
    m = Mixture([Component(0.4, left, 1.0), Component(0.6, right, 1.5)])
    for _ in range(rounds):
        m.improve(data)
    return m.loglik(data)


def gaussian_process(log_length, log_noise, x, y):
    n = len(x)
    K = [[math.exp(-0.5 * ((x[i] - x[j]) / math.exp(log_length)) ** 2) for j in range(n)] for i in range(n)]
    for i in range(n):
        K[i][i] += math.exp(log_noise)
    L = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            s = K[i][j] - sum(L[i][k] * L[j][k] for k in range(j))
            L[i][j] = math.sqrt(s) if i == j else s / L[j][j]
    z = []
    for i in range(n):
        z.append((y[i] - sum(L[i][k] * z[k] for k in range(i))) / L[i][i])
    return 0.5 * sum(v * v for v in z) + sum(math.log(L[i][i]) for i in range(n))


class League:
    def __init__(self, teams, k, home):
        self.ratings = {team: 0.0 for team in teams}
        self.k = k
        self.home = home

    def play(self, a, b, won):
        expected = 1 / (1 + math.exp(-(self.ratings[a] - self.ratings[b] + self.home)))
        self.ratings[a] += self.k * (won - expected)
        self.ratings[b] -= self.k * (won - expected)
        return -math.log(expected if won else 1 - expected)


def league(k, home, games):
    table = League(["red", "blue", "green", "white"], k, home)
    return sum(table.play(a, b, won) for a, b, won in games)


def league_arguments(n):
    names = ["red", "blue", "green", "white"]
    return 0.3, 0.2, [(names[i % 4], names[(i + 1 + i % 3) % 4], i * i % 5 < 3) for i in range(n)]


def hawkes(mu, alpha, beta, times):
    """Log-likelihood of a process that excites itself."""
    loglik, excitement, last = 0.0, 0.0, None
    for t in times:
        if last is not None:
            excitement = math.exp(-beta * (t - last)) * (excitement + 1.0)
        loglik += math.log(mu + alpha * excitement)
        last = t
    compensator = mu * last + alpha / beta * sum(1 - math.exp(-beta * (last - t)) for t in times)
    return loglik - compensator


def numbers(n, low=0.0, high=1.0):
    return np.random.default_rng(n).uniform(low, high, n).tolist()


PROGRAMS = (
    Program("Kalman filter as a class", kalman, kalman_arguments, 40, 3, "observations", (0, 1, 2, 3)),
    Program("particle filter", particle_filter, particle_arguments, 30, 3, "steps", (0, 1, 2)),
    Program("GARCH", garch, lambda n: (0.1, 0.1, 0.8, numbers(n, -1.0, 1.0)), 400, 6, "returns", (0, 1, 2)),
    Program("ARMA", arma, lambda n: ([0.5, 0.2], [0.3, 0.1], 0.2, numbers(n)), 300, 6, "values", (0, 1, 2)),
    Program("HMM forward, lists", hidden_markov, markov_arguments, 80, 4, "symbols", (0, 1, 2)),
    Program("soft-DTW", soft_dtw, lambda n: (numbers(n), numbers(n + 2), 0.5), 18, 3, "points", (0, 1, 2)),
    Program(
        "soft edit distance",
        edit_distance,
        lambda n: (1.0, 1.2, 1.7, 0.3, ("ordinary" * n)[:n], ("derivative" * n)[:n]),
        18,
        4,
        "letters",
        (0, 1, 2, 3),
    ),
    Program("soft knapsack", knapsack, lambda n: (numbers(n), 0.1, [2 + i % 5 for i in range(n)], 40), 20, 3, "things", (0, 1)),
    Program("mixture by EM, dataclasses", mixture, lambda n: (numbers(n, -3.0, 3.0), -1.0, 1.5, 3), 40, 5, "items", (0, 1, 2)),
    Program(
        "Gaussian process, lists of lists",
        gaussian_process,
        lambda n: (-0.5, -1.0, numbers(n, 0.0, 3.0), numbers(n)),
        15,
        4,
        "points",
        (0, 1, 2, 3),
    ),
    Program("ratings of a league, dict", league, league_arguments, 400, 6, "games", (0, 1)),
    Program("Hawkes process", hawkes, lambda n: (0.6, 0.4, 1.5, np.cumsum(numbers(n)).tolist()), 400, 5, "times", (0, 1, 2)),
)
