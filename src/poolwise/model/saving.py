"""Model files and exports of a regressor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self, cast

import numpy as np
from sklearn.base import BaseEstimator

from poolwise._typing import AnyPath
from poolwise.linear.problem import Problem
from poolwise.linear.response_transform import ResponseTransform
from poolwise.methods import METHODS
from poolwise.model.exports import Line, graph, line_without, pipeline
from poolwise.model.fitted_model import FittedModel, fitted
from poolwise.model.model_file.model_json import FIT_TYPES, FORMAT, text_of
from poolwise.model.sql import expression
from poolwise.moments.atomic_write import write
from poolwise.moments.json_format import MOST_BYTES
from poolwise.moments.moments import Moments
from poolwise.numerics.exact_sums import ExactSums
from poolwise.numerics.scatter import Scatter
from poolwise.tables.column_account import Account, ColumnAccount, TableAccount
from poolwise.tables.encoding import Column, Levels

TYPES: tuple[type, ...] = (
    *(FittedModel, ResponseTransform, Column, Levels, Account, ColumnAccount, TableAccount),
    *(Problem, Moments, Scatter, ExactSums),
    *(*METHODS.values(), *FIT_TYPES),
)
# The types of a fitted model, for ``skops.io``, which loads no others. They are plain data: making
# one runs no code that a file could choose.
SKOPS_TRUSTED: tuple[str, ...] = tuple(
    sorted(
        {
            "poolwise.model.regressor.PooledRegressor",
            *(f"{kind.__module__}.{kind.__qualname__}" for kind in TYPES),
        }
    )
)


class Saving(BaseEstimator):
    """Methods of a regressor that save, load and export it."""

    def save(self, path: AnyPath, *, overwrite: bool = False, moments: bool = True) -> None:
        """Write the fitted model to a file, as JSON, with every bit.

        The file is written completely or not at all. :doc:`/guides/model_files` says what it
        discloses about the rows.

        Parameters
        ----------
        path : str or path
            The file to write.
        overwrite : bool, default=False
            Whether to replace a file of this name.
        moments : bool, default=True
            Whether to write the moments of all tables too. Without them a loaded model can only
            predict rows that have all columns.
        """
        named = hasattr(self, "feature_names_in_")
        parameters = self.get_params(deep=False)
        text = text_of(fitted(self), parameters, are_named=named, moments=moments)
        write(path, text, overwrite=overwrite)

    @classmethod
    def load(cls, path: AnyPath, *, max_bytes: int = MOST_BYTES) -> Self:
        """Read a model from a file that :meth:`save` wrote.

        No code is run, whatever the file contains. A file that is damaged, inconsistent or from a
        newer version raises ``BadFile`` with the reason.

        Parameters
        ----------
        path : str or path
            The file.
        max_bytes : int, default=2**28
            Larger files raise an error.

        Returns
        -------
        Self
            The fitted model; it predicts, updates and summarises with the same bits.
        """
        record = FORMAT.read(path, max_bytes)
        model: Any = cls(**record.parameters)
        model._fitted, model.n_features_in_ = record.fitted, len(record.columns)
        if record.columns_are_named:
            names = [c.name for c in record.columns]
            model.feature_names_in_ = np.array(names, dtype=object)
        return cast(Self, model)

    def to_sklearn(self, *, without: Sequence[str] = ()) -> Any:
        """Return the model as a fitted estimator of scikit-learn, which needs no poolwise.

        It predicts rows that have all columns, and cannot be updated.

        Parameters
        ----------
        without : sequence of str, optional
            Columns of ``optional_columns_`` that the rows to predict do not have.

        Returns
        -------
        Pipeline, or TransformedTargetRegressor
            The latter if the model bounds its predictions; its ``regressor_`` is the pipeline.
        """
        return pipeline(self._line(without))

    def to_onnx(self, *, without: Sequence[str] = ()) -> Any:
        """Return the model as ONNX, in doubles (``pip install "poolwise[onnx]"``).

        Inputs are ``numbers`` and ``texts``, one column for each name in the model's properties of
        the same names; the output is ``prediction``. It is NaN where a number is NaN or a text was
        not seen at fit and the model is strict.

        Parameters
        ----------
        without : sequence of str, optional
            Columns of ``optional_columns_`` that the rows to predict do not have.

        Returns
        -------
        onnx.ModelProto
            Write it with ``onnx.save``.
        """
        return graph(self._line(without))

    def to_sql(
        self, dialect: Literal["duckdb", "sqlite"] = "duckdb", *, without: Sequence[str] = ()
    ) -> str:
        """Return the model as an expression in SQL, over columns of the names at fit.

        It is NULL where a column is NULL, or where a text was not seen at fit and the model is
        strict.

        Parameters
        ----------
        dialect : {"duckdb", "sqlite"}, default="duckdb"
            SQL of this engine.
        without : sequence of str, optional
            Columns of ``optional_columns_`` that the table does not have.

        Returns
        -------
        str
            The expression, to put after SELECT. Names and texts in it are quoted.
        """
        return expression(self._line(without), dialect)

    def _line(self, without: Sequence[str]) -> Line:
        return line_without(fitted(self), without, are_named=hasattr(self, "feature_names_in_"))
