"""Rules for scipy.stats: the methods of its distributions."""

from __future__ import annotations

from microgradpy.rules.scipy.stats import continuous as continuous
from microgradpy.rules.scipy.stats import discrete as discrete
from microgradpy.rules.scipy.stats import frozen as frozen
from microgradpy.rules.scipy.stats import generic as generic
from microgradpy.rules.scipy.stats import multivariate as multivariate
from microgradpy.rules.scipy.stats import samples as samples
