"""Rules for scipy.special, one module per family of functions."""

from __future__ import annotations

from microgradpy.rules.scipy.special import bessel as bessel
from microgradpy.rules.scipy.special import distributions as distributions
from microgradpy.rules.scipy.special import elementary as elementary
from microgradpy.rules.scipy.special import errors as errors
from microgradpy.rules.scipy.special import gammas as gammas
from microgradpy.rules.scipy.special import hypergeometric as hypergeometric
from microgradpy.rules.scipy.special import incomplete as incomplete
from microgradpy.rules.scipy.special import integrals as integrals
from microgradpy.rules.scipy.special import normalized as normalized
from microgradpy.rules.scipy.special import powers as powers
from microgradpy.rules.scipy.special import waves as waves
