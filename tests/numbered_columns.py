"""Moments of rows whose columns are named by their place."""

from poolwise import Moments


def names_of(rows):
    return [f"c{j}" for j in range(rows.shape[1])]


def read(rows, weights=None, precision="exact"):
    return Moments.of_rows(names_of(rows), rows, weights, precision=precision)
