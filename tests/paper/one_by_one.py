"""The methods of poolwise, fitted problem by problem."""

import numpy as np

from paper.estimators import problems_of
from poolwise.methods import METHODS


def one_by_one(sample, curve):
    """Return coefficients and intercepts of a curve's method, one line per problem."""
    method = METHODS[curve.method](**curve.options)
    fits = [method.solve(problem) for problem in problems_of(sample, ("old", "new"))]
    return np.array([fit.coef for fit in fits]), np.array([fit.intercept for fit in fits])


def intercepts(lines):
    """Return the predictions of stacked lines where all features are zero."""
    return lines.predict(np.zeros((1, lines.centre.shape[1])))[:, 0]
