"""Objects in containers of all kinds, followed by their numbers, and what looks like it."""

from __future__ import annotations

import copy
from collections import deque
from dataclasses import dataclass, field, replace

import numpy as np

from tests.programs.mutation.table import program

X, N = 0.6, 4


class Agent:
    def __init__(self, wealth):
        self.wealth = wealth
        self.trades = 0

    def pay(self, other, amount):
        self.wealth -= amount
        other.wealth += amount
        self.trades += 1


@dataclass
class Cell:
    height: float
    flow: float = 0.0


@program(X, N, features="dict of objects")
def cells_by_place(x, n):
    cells = {}
    for i in range(n):
        for j in range(n):
            cells[i, j] = Cell(x * i + 0.1 * j)
    for i, j in [(a, b) for a in range(n) for b in range(n)]:
        cell = cells[i, j]
        if (i + 1, j) in cells:
            below = cells[(i + 1, j)]
            cell.flow = 0.3 * (below.height - cell.height) * x
            cell.height += cell.flow
            below.height -= cell.flow
    return sum(cell.height**2 for cell in cells.values())


@program(X, N, features="dict of objects")
def agents_by_name(x, n):
    agents = {"agent " + str(i): Agent(x * (i + 1)) for i in range(n)}
    for i in range(n):
        agents["agent " + str(i)].pay(agents["agent " + str(i * 3 % n)], x * agents["agent 0"].wealth)
    total = 0.0
    for name, agent in agents.items():
        total += agent.wealth**2 * len(name) + agent.trades
    return total


@program(X, N, features="dict of objects")
def one_object_under_many_keys(x, n):
    agents, agent = {}, Agent(x)
    for i in range(n):
        agents[i] = agent
    for i in range(n):
        agents[i].wealth = agents[i].wealth * x + i
    return agent.wealth


@program(X, N, features="dict of objects, None")
def asked_for_what_is_not_there(x, n):
    agents, other = {i: Agent(x * i) for i in range(n)}, Agent(3 * x)
    total = 0.0
    for i in range(2 * n):
        agent = agents.get(i)
        if agent is not None:
            total += agent.wealth
        nearest = agents.get(i, other)
        nearest.wealth += x * i
        total += nearest.wealth
    return total


@program(X, N, features="dict of objects, None")
def some_are_none(x, n):
    agents = {i: Agent(x * i) if i % 2 else None for i in range(n)}
    total = 0.0
    for agent in agents.values():
        if agent is not None:
            agent.wealth *= x
            total += agent.wealth
    return total


@program(X, N, features="dict of objects, replaced")
def next_dict(x, n):
    agents = {i: Agent(x * i) for i in range(n)}
    for step in range(3):
        later = {}
        for i, agent in agents.items():
            later[i] = Agent(agent.wealth * x + agents[(i + step) % n].wealth)
        agents = later
    return sum(agent.wealth for agent in agents.values())


@program(X, N, features="dict of objects, replaced")
def old_dict_under_another_name(x, n):
    agents = {i: Agent(x * i) for i in range(n)}
    first = agents
    for _ in range(2):
        later = {}
        for i, agent in agents.items():
            later[i] = agent
        later[0] = Agent(x * x)
        agents = later
    first[0].wealth = 7 * x
    first[1].wealth *= x
    return sum(agent.wealth for agent in agents.values()) * first[0].wealth


@program(X, N, features="dict of objects, view")
def view_of_a_dict_that_grows(x, n):
    agents = {i: Agent(x * i) for i in range(n)}
    everybody = agents.values()
    agents[n] = Agent(x * x)
    agents[1] = Agent(3 * x)
    return sum(agent.wealth for agent in everybody) * len(everybody)


@program(X, N, features="dict of objects, identity")
def the_same_agent(x, n):
    agents = {i: Agent(x * i) for i in range(n)}
    agents[n] = chosen = agents[1]
    total = 0.0
    for agent in agents.values():
        if agent is chosen:
            total += 2 * agent.wealth
        if agent is not agents[2]:
            total += 3 * agent.wealth
    return total


@program(X, N, features="dict of objects, order")
def richest_of_a_dict(x, n):
    agents = {i: Agent(abs(x * i - 1)) for i in range(n)}
    richest = max(agents.values(), key=lambda agent: agent.wealth)
    richest.wealth *= x
    ordered = sorted(agents.values(), key=lambda agent: agent.wealth)
    return richest.wealth * ordered[0].wealth + ordered[-1].wealth


def enter(agents, x):
    agents["new"] = Agent(x * x)
    agents["a0"].wealth *= x


@program(X, N, features="dict of objects, call")
def dict_given_to_a_function(x, n):
    agents = {"a" + str(i): Agent(x * (i + 1)) for i in range(n)}
    enter(agents, x)
    return agents["new"].wealth * agents["a0"].wealth


@dataclass
class Market:
    share: float
    agents: dict
    log: list = field(default_factory=list)

    def trade(self):
        for name in self.agents:
            agent = self.agents[name]
            agent.wealth -= self.share * agent.wealth
            self.log.append((name, agent))


@program(X, N, features="dict of objects, object")
def market_of_agents(x, n):
    agents = {}
    for i in range(n):
        agents["a" + str(i)] = Agent(x * (i + 1))
    market = Market(0.5 * x, agents)
    for _ in range(2):
        market.trade()
    return sum(len(name) * agent.wealth for name, agent in market.log)


@program(X, N, features="tuples with objects")
def tuples_in_a_list(x, n):
    jobs = []
    for i in range(n):
        jobs.append((i % 3, Cell(x * i, x)))
    jobs = sorted(jobs, key=lambda job: -job[0])
    total = 0.0
    for priority, cell in jobs:
        cell.height += total * cell.flow
        total += cell.height * (1 + priority)
    return total + jobs[0][1].height * jobs[-1][-1].flow


@program(X, N, features="tuples with objects")
def tuple_that_is_carried(x, n):
    cells = [Cell(x * i) for i in range(n)]
    best = (0, cells[0])
    for i, cell in enumerate(cells):
        if cell.height > best[1].height:
            best = (i, cell)
    best[1].height *= x
    return sum(cell.height for cell in cells) * best[0]


@program(X, N, features="tuples with objects, None")
def pairs_with_the_one_before(x, n):
    pairs, before = [], None
    for i in range(n):
        cell = Cell(x * i)
        pairs.append((before, cell))
        before = cell
    total = 0.0
    for first, second in pairs:
        if first is not None:
            total += first.height * second.height
    return total


@program(X, features="tuples with objects")
def tuple_compared(x):
    a = Cell(x)
    first, second = (a, 1), (a, 1)
    total = 2.0 if first == second else 3.0
    a.height = x * x
    if first is second:
        total *= 5.0
    return total * a.height * len(first)


def two_cells(x):
    return Cell(x), Cell(x * x)


@program(X, features="tuples with objects, call")
def objects_returned_together(x):
    a, b = two_cells(x)
    a.height *= b.height
    return a.height + b.height


@program(X, N, features="lists of lists of objects")
def grid_of_cells(x, n):
    grid = [[Cell(x * i + 0.3 * j) for j in range(n)] for i in range(n)]
    for i in range(1, n):
        for j in range(n):
            grid[i][j].flow = x * (grid[i - 1][j].height - grid[i][j].height)
    for row in grid:
        for cell in row:
            cell.height += cell.flow
    grid[1][1] = Cell(x * x)
    return sum(cell.height**2 for row in grid for cell in row)


@program(X, N, features="lists of lists of objects, alias")
def one_cell_everywhere(x, n):
    cell = Cell(x)
    grid = [[cell for _ in range(n)] for _ in range(n)]
    grid[0][0].height = x * x
    return grid[n - 1][1].height * cell.height


@program(X, N, features="lists of lists of objects, alias")
def one_row_twice(x, n):
    row = [Cell(x * i) for i in range(n)]
    grid = [row, row]
    grid[0][1].height = x * x
    grid[1][2] = Cell(9 * x)
    return grid[1][1].height + grid[0][2].height


@program(X, N, features="lists of lists of objects, alias")
def transposed_grid(x, n):
    grid = [[Cell(x * i + j) for j in range(n)] for i in range(n)]
    columns = [[grid[j][i] for j in range(n)] for i in range(n)]
    columns[1][2].height = x * x
    return grid[2][1].height * sum(cell.height for column in columns for cell in column)


@program(X, N, features="deque of objects")
def jobs_in_turn(x, n):
    waiting = deque()
    for i in range(n):
        waiting.append((0.1 * i, Cell(x * (i + 1))))
    total = 0.0
    while waiting:
        late, cell = waiting.popleft()
        cell.height -= 0.7
        total += late * cell.height
        if cell.height > 0.0:
            waiting.append((late + x, cell))
    return total


@program(X, N, features="list of objects, two lists")
def moved_to_another_list(x, n):
    waiting, done = [Cell(x * i, x) for i in range(n)], []
    total = 0.0
    while waiting:
        cell = waiting.pop(0)
        total += cell.height
        if cell.height > 1.0:
            cell.height *= 0.5
            waiting.append(cell)
        else:
            done.append(cell)
    return total + sum(cell.height * cell.flow for cell in done)


@program(X, N, features="copies of objects")
def copies_of_cells(x, n):
    cell = Cell(x, 2 * x)
    other = copy.copy(cell)
    other.height *= x
    cell.flow = cell.flow * 3
    cells = [copy.copy(cell) for _ in range(n)]
    cells[0].height = 7 * x
    later = [replace(each, flow=each.height) for each in cells]
    later[1].height = x * x
    return other.height * other.flow + sum(a.height * a.flow + b.height * b.flow for a, b in zip(cells, later))


@program(X, N, features="dict of objects, arrays")
def arrays_in_objects_of_a_dict(x, n):
    cells = {}
    for i in range(n):
        cells[i] = Cell(np.array([x * i, x]), np.zeros(2))
    for i in range(n):
        cells[i].flow = cells[i].flow + cells[(i + 1) % n].height * x
    return sum(np.sum(cell.height * cell.flow) for cell in cells.values())


@program(X, N, features="dict of objects, try")
def key_that_is_not_there(x, n):
    cells = {i: Cell(x * i) for i in range(n)}
    try:
        cells[1].height = x * x
        cells[n].height = 1.0
    except KeyError:
        return cells[1].height * x
    return 0.0


@program(X, N, features="dict of objects, generator")
def generator_over_a_dict(x, n):
    cells = {i: Cell(x * i) for i in range(n)}

    def steep():
        for i in cells:
            if i % 2:
                yield i, cells[i]

    total = 0.0
    for i, cell in steep():
        cell.height *= x
        total += i * cell.height
    return total + cells[1].height


class Shape:
    scale = 1.0

    def area(self):
        raise NotImplementedError  # as programs write it: each shape says what it is, and nobody asks this one

    def grow(self, factor):
        self.size = self.size * factor


class Circle(Shape):
    scale = 2.0

    def __init__(self, size):
        self.size = size

    def area(self):
        return 3.0 * self.size**2


class Box(Shape):
    def __init__(self, size, height=0.5):
        self.size, self.height = size, height

    def area(self):
        return self.size * self.height

    def grow(self, factor):
        super().grow(factor)
        self.height = self.height + factor


class Wedge(Shape):
    def __init__(self, size):
        self.size, self.height = size, 0.3 * size

    def area(self):
        return 0.5 * self.size * self.height


@program(X, N, features="several classes")
def shapes_of_three_classes(x, n):
    shapes = []
    for i in range(2 * n):
        if i % 3 == 0:
            shapes.append(Circle(x * i))
        elif i % 3 == 1:
            shapes.append(Box(x * i, x))
        else:
            shapes.append(Wedge(x + i))
    total = 0.0
    for shape in shapes:
        shape.grow(factor=x)
        total += shape.area() * shape.scale
    return total + shapes[-1].area() * shapes[1].size


@program(X, features="several classes")
def few_shapes(x):
    shapes = [Circle(x), Box(2 * x), Circle(3 * x), Wedge(x)]
    shapes[0] = Box(x, x)
    for shape in shapes:
        shape.size += x
    return sum(shape.area() for shape in shapes[1:])


@program(X, features="several classes, identity")
def pairs_of_shapes(x):
    shapes = [Circle(x), Box(2 * x), Wedge(4 * x)]
    first, total = shapes[0], 0.0
    for shape in shapes:
        for other in shapes:
            if shape is not other:
                total += shape.area() * other.size
        if shape is first:
            total += x
    return total


def grown(shape, x):
    shape.grow(x)
    return shape.area() + shape.size


@program(X, features="several classes, call")
def shapes_given_to_a_function(x):
    shapes = [Circle(x), Wedge(2 * x)]
    return sum(grown(shape, x) for shape in shapes)


@program(X, features="several classes, order")
def largest_shape(x):
    shapes = [Circle(x), Box(2 * x), Wedge(3 * x)]
    best = shapes[0]
    for shape in shapes:
        if shape.area() > best.area():
            best = shape
    best.size *= x
    ordered = sorted(shapes, key=lambda shape: shape.area())
    chosen = ordered[0] if x > 0.5 else ordered[1]
    return sum(i * shape.area() for i, shape in enumerate(ordered)) + chosen.size


@program(X, features="several classes, isinstance")
def shapes_asked_for_their_class(x):
    shapes, total = [Box(x), Wedge(2 * x)], 0.0
    for shape in shapes:
        if isinstance(shape, Box):
            total += shape.height * x
        elif isinstance(shape, Shape):
            total += shape.height * shape.size
    return total


@program(X, features="several classes, missing attribute")
def shape_without_a_height(x):
    shapes = [Box(x), Circle(2 * x)]
    try:
        return shapes[0].height * shapes[1].height * x
    except AttributeError:
        return x * x


@program(X, features="several classes, missing attribute")
def shape_that_is_a_key(x):
    shapes = [Box(x), Circle(2 * x)]
    areas = {shape: shape.area() for shape in shapes}
    return areas[shapes[0]] * x


@program(X, N, features="tuples with objects, identity")
def the_same_tuple(x, n):
    pairs, total = [], 0.0
    for i in range(n):
        pairs.append((i, Cell(x * i)))
    pair = pairs[1]
    if pair is pairs[1]:
        total += pair[1].height
    if pairs[0] is pairs[1]:
        total += 100 * x
    return total


@program(X, N, features="lists of lists of objects, identity")
def the_same_row(x, n):
    grid = [[Cell(x * i + j) for j in range(n)] for i in range(n)]
    row, total = grid[1], 0.0
    for other in grid:
        if other is row:
            total += other[1].height
    return total + (x if grid[0] is grid[0] else 0.0)


@program(X, N, features="lists of lists, identity")
def the_same_row_of_numbers(x, n):
    grid = [[x * i + j for j in range(n)] for i in range(n)]
    grid[1][1] = x * x
    row, total = grid[1], 0.0
    for other in grid:
        if other is row:
            total += other[1]
    return total + (x if grid[0] is grid[0] else 0.0)
