"""NumPy arrays as tables: columns by position, numbers of any type and layout."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from poolwise.errors import BadTable, NotNumeric
from poolwise.tables.encoding import Column
from poolwise.tables.memory import open_table


def read(table, names=None, start=0, stop=None):
    opened = open_table(table, "X")
    columns = [Column(n) for n in (opened.names if names is None else names)]
    return opened.read(columns, start, opened.rows if stop is None else stop)


@pytest.fixture
def values():
    return np.arange(12.0).reshape(4, 3) ** 2


def test_columns_are_named_by_position(values):
    opened = open_table(values, "X")
    assert (opened.names, opened.rows) == (("x0", "x1", "x2"), 4)
    assert opened.levels(["x0"]) == {"x0": None}


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint64, bool, object])
def test_numbers_of_any_type_become_doubles(values, dtype):
    given = (values % 5).astype(dtype)
    assert read(given).dtype == np.float64
    assert_array_equal(read(given), given.astype(float))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_that_a_double_would_round_are_refused(dtype):
    held = np.array([[2**53 + 2, 2**62], [1, 0]], dtype=dtype)
    assert_array_equal(read(held), [[2.0**53 + 2.0, 2.0**62], [1.0, 0.0]])
    message = r"columns 'x0', 'x1' has 1 integers, up to 9,007,199,254,740,995 in size"
    with pytest.raises(NotNumeric, match=message):
        read(held + np.array([[1, 0], [0, 0]], dtype=dtype))


@pytest.mark.parametrize(
    "view",
    [
        np.asfortranarray,
        lambda z: np.flip(np.flip(z).copy()),
        lambda z: np.repeat(z, 2, axis=0)[::2],
        lambda z: np.matrix(z) if hasattr(np, "matrix") else z,
    ],
    ids=["fortran", "negative strides", "every second row", "matrix"],
)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_the_layout_in_memory_does_not_matter(values, view):
    assert_array_equal(read(view(values)), values)
    assert_array_equal(read(view(values), ["x2", "x0"], 1, 3), values[1:3, [2, 0]])


def test_arrays_that_cannot_be_written_to_can_be_read(values):
    values.setflags(write=False)
    assert_array_equal(read(values), values)


def test_doubles_are_read_without_a_copy(values):
    assert np.shares_memory(read(values), values)
    assert np.shares_memory(read(values, ["x0", "x1"]), values)


def test_columns_and_rows_are_read_as_asked(values):
    assert_array_equal(read(values, ["x1"], 2, 4), values[2:4, [1]])
    assert read(values, []).shape == (4, 0)
    assert read(values[:0]).shape == (0, 3)


def test_rows_are_taken_by_index(values):
    taken = open_table(values, "X").take(np.array([3, 0]))
    assert taken.rows == 2
    assert_array_equal(taken.read([Column("x1")], 0, 2)[:, 0], values[[3, 0], 1])


def test_missing_values_are_nan(values):
    values[1, 2] = np.nan
    missing = open_table(values, "X").missing(["x2", "x0"])
    assert_array_equal(missing, [[False, False], [True, False], [False, False], [False, False]])
    whole = open_table(values[2:].astype(int), "X")
    assert not whole.missing(["x0"]).any()


def test_none_in_an_array_of_objects_is_missing():
    given = np.array([[1.0, None], [2, True]], dtype=object)
    assert_array_equal(read(given), [[1.0, np.nan], [2.0, 1.0]])
    assert_array_equal(open_table(given, "X").missing(["x0", "x1"]), [[False, True], [False] * 2])


@pytest.mark.parametrize("dtype", [float, object])
def test_an_array_may_have_no_columns(dtype):
    opened = open_table(np.empty((3, 0), dtype=dtype), "X")
    assert (opened.names, opened.rows) == ((), 3)


@pytest.mark.parametrize("shape", [(4,), (), (2, 2, 2)])
def test_other_than_two_dimensions_are_refused_with_the_shape(shape):
    with pytest.raises(BadTable) as caught:
        open_table(np.ones(shape), "table 'old'")
    assert f"Table 'old' is an array of shape {shape}" in str(caught.value)
    assert "X.reshape(-1, 1)" in str(caught.value)


@pytest.mark.parametrize("dtype", ["datetime64[D]", "timedelta64[s]", "<U3", complex, "S3"])
def test_types_without_meaning_are_refused_by_name(dtype):
    given = np.zeros((2, 2), dtype=dtype)
    with pytest.raises(NotNumeric) as caught:
        open_table(given, "X")
    assert f"'x0..x1' of X has the type {given.dtype}" in str(caught.value)
    assert "give a DataFrame for text" in str(caught.value)


@pytest.mark.parametrize("value", ["red", (1, 2), np.datetime64("2020-01-01"), 1j])
def test_an_object_that_is_no_number_is_refused_by_column(value):
    given = np.empty((2, 2), dtype=object)
    given[:] = 1.0
    given[1, 1] = value
    with pytest.raises(NotNumeric, match=r"Column 'x1' of X holds something that is not a number"):
        open_table(given, "X")


def test_python_integers_beyond_53_bits_are_refused():
    values = np.array([[2**53 + 1, 1], [2, 3]], dtype=object)
    with pytest.raises(NotNumeric, match=r"Column 'x0' of X has 1 integers"):
        open_table(values, "X")
    open_table(np.array([[2**53, 1.5], [2**60, True]], dtype=object), "X")  # doubles hold these
