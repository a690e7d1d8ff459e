"""The table of programs that write: into arrays, lists, dicts, objects and variables of other functions."""

from __future__ import annotations

import numpy as np

from tests.programs.table import Program, entering

MUTATION: list[Program] = []
program = entering(MUTATION)

# Arguments that many programs share; no two numbers are equal, so that a mix-up of places shows. Never written: every
# check gives the program a copy.
K = 0.7
V3 = np.array([0.4, -0.9, 1.3])
W3 = np.array([1.1, 0.6, -0.5])
V4 = np.array([0.5, 1.2, -0.7, 0.9])
V5 = np.array([0.3, -1.1, 0.8, 1.4, -0.6])
M23 = np.array([[0.2, -0.8, 1.1], [0.9, 0.4, -1.3]])
M33 = np.array([[0.3, -0.7, 1.2], [0.8, 0.5, -0.4], [-1.1, 0.6, 0.9]])
M34 = np.array([[0.3, -0.7, 1.2, 0.1], [0.8, 0.5, -0.4, 1.5], [-1.1, 0.6, 0.9, -0.2]])
