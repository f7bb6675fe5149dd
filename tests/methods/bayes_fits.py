"""Bayes pooling of tables, and what the tests ask of it."""

import warnings

import numpy as np

from poolwise.errors import PoolwiseWarning
from poolwise.methods.bayes_pooling import BayesPooling


def solved(tables, **options):
    return BayesPooling().solve(tables.problem(**options))


def errors_of(fit):
    return np.sqrt(fit.covariance.diagonal()[1:])


def quietly(regressor, *tables, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolwiseWarning)
        return regressor.fit(*tables, **options)
