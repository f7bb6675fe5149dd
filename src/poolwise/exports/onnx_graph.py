"""ONNX: a fitted model as a graph of plain operators, in doubles.

The graph is made by hand rather than by a converter of scikit-learn models: a dozen operators of
the standard set, no float32 in between, and no more packages than ``onnx`` itself.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from poolwise.double_double import Array
from poolwise.errors import CannotExport, NotInstalled
from poolwise.exports.line import Line, TextTerm, is_unicode

OPSET, IR_VERSION = 19, 9  # the first in which texts can be compared


def graph(line: Line) -> Any:
    """Return the model as an ``onnx.ModelProto``.

    Inputs are ``numbers``, doubles of shape (n, columns of numbers), and ``texts``, strings of
    shape (n, columns of texts), with columns in the order that the properties of the same names
    tell as JSON. The output is ``prediction``, of shape (n,): NaN where a number is NaN, and where
    a text is no level, unless such texts are ignored.

    Parameters
    ----------
    line : Line
        The model.
    """
    try:
        import onnx
    except ImportError:
        otherwise = "Or hand the model over as SQL or as a scikit-learn pipeline."
        raise NotInstalled("Writing a model as ONNX", "onnx", "onnx", otherwise) from None
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
    return made.model(total, line)


def _with_text(made: _Graph, total: str, texts: str, j: int, term: TextTerm) -> str:
    """Add what a column of texts adds."""
    if not all(map(is_unicode, term.adds)):
        why = f"a level of column {term.name!r} is no text in Unicode"
        raise CannotExport("ONNX", why, "Rename it and fit again")
    column = made.node("Gather", texts, made.whole([j]), axis=1)
    is_level = made.node("Equal", column, made.texts(list(term.adds)))
    ones = made.node("Cast", is_level, to=made.onnx.TensorProto.DOUBLE)
    adds = made.constant([[add] for add in term.adds.values()])
    total = made.node("Add", total, made.node("MatMul", ones, adds))
    if term.ignores_unseen:
        return total
    found = made.node("ReduceMax", ones, made.whole([1]), keepdims=1)
    is_known = made.node("Greater", found, made.constant(0.5))
    return made.node("Where", is_known, total, made.constant(np.nan))


class _Graph:
    """A graph in the making: nodes and constants, each named by its number."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []

    def input(self, name: str, kind: int, columns: int) -> str:
        """Take a table of some columns."""
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, kind, ["n", columns]))
        return name

    def constant(self, values: Any) -> str:
        """Hold doubles."""
        return self._hold(np.array(values, dtype=np.float64))

    def whole(self, values: list[int]) -> str:
        """Hold whole numbers."""
        return self._hold(np.array(values, dtype=np.int64))

    def _hold(self, values: Array | Any) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(values, name))
        return name

    def texts(self, values: list[str]) -> str:
        """Hold a row of texts."""
        name = f"constant_{len(self.constants)}"
        kind, content = self.onnx.TensorProto.STRING, [v.encode("utf-8") for v in values]
        self.constants.append(self.onnx.helper.make_tensor(name, kind, [1, len(values)], content))
        return name

    def node(self, operator: str, *inputs: str, name: str = "", **attributes: int) -> str:
        """Compute something."""
        name = name or f"node_{len(self.nodes)}"
        made = self.onnx.helper.make_node(operator, list(inputs), [name], **attributes)
        self.nodes.append(made)
        return name

    def model(self, total: str, line: Line) -> Any:
        """Return the model, checked."""
        helper = self.onnx.helper
        end = self.node("Squeeze", total, self.whole([1]), name="prediction")
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
