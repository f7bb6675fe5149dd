"""A linear fit over raw columns, as a scikit-learn pipeline and as an ONNX graph.

The pipeline needs scikit-learn and NumPy, not poolwise. The graph is built without a converter, so
that all numbers are doubles and only ``onnx`` is needed. Columns are centred before they are
multiplied by their coefficients, so that features far from zero keep their digits.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from poolwise.errors import BadOption, NotInstalled, NotWritten
from poolwise.linear.response_transform import noise_of
from poolwise.model.fitted_model import FittedModel
from poolwise.model.prediction import fits_on
from poolwise.tables.text_values import DATES
from poolwise.wording import listed

OPSET, IR_VERSION = 19, 9  # the first in which texts can be compared


@dataclass(frozen=True)
class NumberTerm:
    """The term of a numeric column: ``coef * (x - centre)``."""

    name: str
    coef: float
    centre: float


@dataclass(frozen=True)
class TextTerm:
    """The term of a text column: a number for each level."""

    name: str
    adds: dict[str, float]  # for each level and other spelling; zero for a reference level
    unseen: float | None  # what any other text adds; None if it is an error


@dataclass(frozen=True)
class Line:
    """A prediction: the sum of the level and all terms, clipped to bounds, on a curve."""

    level: float  # the prediction where all terms are zero
    terms: tuple[NumberTerm | TextTerm, ...]  # one per column, in their order
    bounds: tuple[float, float] | None
    response: str
    are_named: bool  # the columns had these names at fit
    curve: str = ""  # "log": the exponential of the sum; "sqrt": its square
    adds: float = 0.0  # to the square

    @property
    def numbers(self) -> tuple[NumberTerm, ...]:
        """The columns of numbers."""
        return tuple(t for t in self.terms if isinstance(t, NumberTerm))

    @property
    def texts(self) -> tuple[TextTerm, ...]:
        """The columns of texts."""
        return tuple(t for t in self.terms if isinstance(t, TextTerm))


def line_without(model: FittedModel, without: Sequence[str], *, are_named: bool) -> Line:
    """Return the line of a model for rows that lack some optional columns."""
    if model.fit.parts().line is None:
        raise NotWritten(
            f"Only linear models can be exported to scikit-learn, ONNX and SQL, and this model of "
            f"{model.name} contains trees.",
            "Use save(), which keeps all of it, or fit bayes_pooling, which is linear.",
        )
    if (curve := model.transform.name) not in ("", "log", "sqrt"):
        raise NotWritten(
            f"Functions cannot be exported to scikit-learn, ONNX and SQL, and the response of this "
            f"model is transformed by {curve}.",
            'response_transform="log" and "sqrt" can be exported.',
        )
    gone = {without} if isinstance(without, str) else set(without)
    has = [c for c in model.columns if c.name not in gone]
    if not gone <= set(model.optional_columns) or not has:
        raise BadOption.of(
            "without", without, f"some of {listed(model.optional_columns)}, not all columns"
        )
    own = fits_on(model, [has])[0]
    fit = own.parts().linear
    coef = dict(zip(fit.names, fit.coef.tolist(), strict=True))
    centre = dict(zip(fit.names, fit.centre.tolist(), strict=True))
    terms: list[NumberTerm | TextTerm] = []
    level = [float(fit.level)]
    for column in has:
        if column.kind in DATES:
            raise NotWritten(
                f"Column {column.name!r} holds dates, which exports cannot express.",
                "Use save(), or make numbers of the dates before the fit.",
            )
        if column.levels is None:
            terms.append(NumberTerm(column.name, coef[column.name], centre[column.name]))
            continue
        adds = dict.fromkeys(column.levels, 0.0)
        for text, output in zip(column.indicated, column.outputs, strict=True):
            adds[text] = coef[output]
            level.append(-centre[output] * coef[output])  # a share of rows: no digits are lost
        means = zip(column.outputs, column.means, strict=False)
        mean = math.fsum(share * coef[output] for output, share in means)
        unseen = None if column.strict else mean if column.other is None else adds[column.other]
        adds |= {alias: adds[level] for alias, level in column.aliases}
        terms.append(TextTerm(column.name, adds, unseen))
    line = Line(math.fsum(level), tuple(terms), fit.bounds, model.response, are_named, curve)
    return _with_mean(line, noise_of(own)) if curve else line


def _with_mean(line: Line, noise: float) -> Line:
    """Return a line whose curve gives means; see `poolwise.linear.response_transform`."""
    low, high = line.bounds or (-math.inf, math.inf)
    if line.curve == "sqrt":
        largest = max(high, 0.0) ** 2  # of the mean
        noise = min(noise, largest)
        high = math.sqrt(largest - noise)
        return replace(line, bounds=(min(max(low, 0.0), high), high), adds=noise)
    step = 0.5 * noise
    bounds = None if line.bounds is None else (min(low + step, high), high)
    return replace(line, level=line.level + step, bounds=bounds)


def is_unicode(text: str) -> bool:
    """Return whether a text can be written as UTF-8; a lone surrogate cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def pipeline(line: Line) -> Pipeline | TransformedTargetRegressor:
    """Return a fitted estimator that predicts as the line does, clipped to its bounds."""
    coef, centre = [t.coef for t in line.numbers], [t.centre for t in line.numbers]
    level = [line.level]
    for term in sorted(line.texts, key=_is_strict):  # as the encoder puts them out
        base = term.unseen or 0.0  # a text without an indicator adds nothing else
        level.append(base)
        coef += [add - base for add in term.adds.values()]
        centre += [0.0] * len(term.adds)
    steps = [("centre", _scaler(centre)), ("line", _regression(coef, math.fsum(level)))]
    if line.texts:
        steps.insert(0, ("encode", _encoder(line)))
    if line.are_named:  # the first step checks names
        steps[0][1].feature_names_in_ = _names(line.terms)
    fitted: Pipeline | TransformedTargetRegressor = Pipeline(steps)
    if line.bounds is not None:
        low, high = line.bounds
        fitted = _mapped(fitted, partial(np.clip, a_min=low, a_max=high), line)
    if line.curve:
        square = partial(np.polyval, [1.0, 0.0, line.adds])
        fitted = _mapped(fitted, np.exp if line.curve == "log" else square, line)
    return fitted


def _is_strict(term: TextTerm) -> bool:
    """Return whether unseen texts are an error; columns alike in this share an encoder."""
    return term.unseen is None


def _encoder(line: Line) -> Any:
    """Return an encoder whose output is numbers, then indicators of levels."""
    place = {term.name: j for j, term in enumerate(line.terms)}
    parts: list[tuple[str, Any, list[int]]] = []
    if line.numbers:
        parts.append(("numbers", "passthrough", [place[t.name] for t in line.numbers]))
    for is_strict in sorted({_is_strict(t) for t in line.texts}):
        alike = [t for t in line.texts if _is_strict(t) == is_strict]
        encoder = OneHotEncoder(
            categories=[np.array(list(t.adds), dtype=object) for t in alike],
            handle_unknown="error" if is_strict else "ignore",
            sparse_output=False,
        )
        parts.append((f"texts {len(parts)}", encoder, [place[t.name] for t in alike]))
    fitted = ColumnTransformer(parts).fit(_some_row(line))
    if line.are_named:
        for name, _, at in parts:
            if isinstance(encoder := fitted.named_transformers_[name], OneHotEncoder):
                encoder.feature_names_in_ = _names([line.terms[j] for j in at])
    return fitted


def _names(terms: Sequence[NumberTerm | TextTerm]) -> Any:
    return np.array([t.name for t in terms], dtype=object)


def _some_row(line: Line) -> Any:
    row = [0.0 if isinstance(t, NumberTerm) else next(iter(t.adds)) for t in line.terms]
    return np.array([row], dtype=object if line.texts else np.float64)


def _scaler(centre: list[float]) -> Any:
    scaler = StandardScaler(with_std=False)
    scaler.mean_, scaler.n_features_in_ = np.array(centre), len(centre)
    scaler.var_ = scaler.scale_ = None
    return scaler


def _regression(coef: list[float], level: float) -> Any:
    regression = LinearRegression()
    regression.coef_, regression.n_features_in_ = np.array(coef), len(coef)
    regression.intercept_ = level
    return regression


def _mapped(fitted: Any, function: Any, line: Line) -> TransformedTargetRegressor:
    """Return an estimator whose predictions are a function of those of a fitted one."""
    hold = FunctionTransformer(inverse_func=function, check_inverse=False)
    held = TransformedTargetRegressor(fitted, transformer=hold, check_inverse=False)
    held.fit(_some_row(line), [0.0])  # learns the shape of a response; its regressor is replaced
    held.regressor_ = fitted
    if line.are_named:
        held.feature_names_in_ = fitted.feature_names_in_
    return held


def graph(line: Line) -> Any:
    """Return the model as an ``onnx.ModelProto``.

    Inputs are ``numbers``, doubles of shape (n, columns of numbers), and ``texts``, strings of
    shape (n, columns of texts). Properties of these names hold the order of the columns, as JSON.
    The output is ``prediction``, of shape (n,): NaN where a number is NaN, and where a text is not
    a level of a strict model.
    """
    try:
        import onnx
    except ImportError:
        otherwise = "Or export the model as SQL or as a scikit-learn pipeline."
        raise NotInstalled.of("Writing a model as ONNX", "onnx", "onnx", otherwise) from None
    made = _Graph(onnx)
    total = made.constant([[line.level]])
    if line.numbers:
        numbers = made.input("numbers", onnx.TensorProto.DOUBLE, len(line.numbers))
        step = made.node("Sub", numbers, made.constant([[t.centre for t in line.numbers]]))
        coef = made.constant([[t.coef] for t in line.numbers])
        total = made.node("Add", total, made.node("MatMul", step, coef))
    if line.texts:
        texts = made.input("texts", onnx.TensorProto.STRING, len(line.texts))
        for j, term in enumerate(line.texts):
            total = _with_text(made, total, texts, j, term)
    if line.bounds is not None:
        for beyond, bound in zip(("Less", "Greater"), line.bounds, strict=True):
            end = made.constant(bound)
            total = made.node("Where", made.node(beyond, total, end), end, total)
    if line.curve == "log":
        total = made.node("Exp", total)
    elif line.curve:
        total = made.node("Add", made.node("Mul", total, total), made.constant(line.adds))
    return made.model(total, line)


def _with_text(made: _Graph, total: str, texts: str, j: int, term: TextTerm) -> str:
    if not all(map(is_unicode, term.adds)):
        why = f"a level of column {term.name!r} is not valid Unicode"
        what = f"The model cannot be written as ONNX: {why}."
        raise NotWritten(what, "Rename it and fit again.")
    column = made.node("Gather", texts, made.constant([j], np.int64), axis=1)
    is_level = made.node("Equal", column, made.constant([list(term.adds)], object))
    ones = made.node("Cast", is_level, to=made.onnx.TensorProto.DOUBLE)
    adds = made.constant([[add] for add in term.adds.values()])
    before, total = total, made.node("Add", total, made.node("MatMul", ones, adds))
    found = made.node("ReduceMax", ones, made.constant([1], np.int64), keepdims=1)
    is_known = made.node("Greater", found, made.constant(0.5))
    unseen = made.constant(np.nan if term.unseen is None else term.unseen)
    other = made.node("Add", before, unseen)
    return made.node("Where", is_known, total, other)


class _Graph:
    """A graph under construction: nodes and constants, each named by its number."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []

    def input(self, name: str, kind: int, columns: int) -> str:
        """Add an input for some columns."""
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, kind, ["n", columns]))
        return name

    def constant(self, values: Any, kind: type[Any] = np.float64) -> str:
        """Add a constant of doubles, of whole numbers (``np.int64``) or of texts (``object``)."""
        name = f"constant_{len(self.constants)}"
        held = self.onnx.numpy_helper.from_array(np.array(values, dtype=kind), name)
        self.constants.append(held)
        return name

    def node(self, operator: str, *inputs: str, name: str = "", **attributes: int) -> str:
        """Add a node."""
        name = name or f"node_{len(self.nodes)}"
        made = self.onnx.helper.make_node(operator, list(inputs), [name], **attributes)
        self.nodes.append(made)
        return name

    def model(self, total: str, line: Line) -> Any:
        """Return the model, checked."""
        helper = self.onnx.helper
        end = self.node("Squeeze", total, self.constant([1], np.int64), name="prediction")
        output = helper.make_tensor_value_info(end, self.onnx.TensorProto.DOUBLE, ["n"])
        whole = helper.make_graph(self.nodes, "poolwise", self.inputs, [output], self.constants)
        opset = helper.make_opsetid("", OPSET)
        model = helper.make_model(whole, opset_imports=[opset], ir_version=IR_VERSION)
        model.producer_name = "poolwise"
        properties = {
            "numbers": json.dumps([t.name for t in line.numbers]),
            "texts": json.dumps([t.name for t in line.texts]),
            "response": json.dumps(line.response),
        }
        helper.set_model_props(model, properties)
        self.onnx.checker.check_model(model, full_check=True)
        return model
