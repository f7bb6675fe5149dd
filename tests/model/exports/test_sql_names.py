"""to_sql: names and texts stay what they are, whatever they look like, or are refused."""

import sqlite3
import warnings

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from poolwise import PooledRegressor
from poolwise.errors import BadOption, NotWritten, PoolwiseWarning
from poolwise.model.exports import Line, NumberTerm, TextTerm
from poolwise.model.sql import expression
from tests.model.exports.databases import CLOSE, DIALECTS, RUN, fitted_quietly, quietly
from tests.model.model_file.worlds import fitted, world

# What people who write queries by hand forget: ends of texts and names, comments, statements.
HOSTILE = [
    *("'", '"', "`", "''", '""', "';--", '";--', "x'); DROP TABLE rows; --", '"; SELECT 1; --'),
    *("/*", "*/", "--", "\\", "\\'", "a\nb", "\t", "%s", "{0}", "$1", "?", ":x", "[x]", "NULL"),
    *("größe", "北京", "😀", "\u202e", "a\u0301", "select", "rowid", "1", " ", "=", "é"),
]
names = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8
    ),
)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
@settings(deadline=None, max_examples=40)
@given(
    columns=st.lists(names, min_size=2, max_size=4, unique_by=str.casefold),
    levels=st.lists(names, min_size=2, max_size=6, unique=True),
    seed=st.integers(0, 10**6),
)
def test_hostile_names_and_texts_stay_names_and_texts(dialect, columns, levels, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(20, len(columns))), columns=columns)
    texts = np.array([levels[k % len(levels)] for k in range(20)], dtype=object)
    frame[columns[0]] = pd.Categorical(texts, categories=levels)
    y = rng.normal(size=20)
    if "y" in columns:
        y = pd.Series(y, name="the response")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolwiseWarning)
        model = PooledRegressor("target_only").fit(frame, y)
    rows = frame.astype({columns[0]: object})
    found = RUN[dialect](model.to_sql(dialect), rows)
    assert_allclose(found, quietly(model, frame), rtol=CLOSE, atol=1e-12)


def test_a_table_survives_a_model_whose_names_try_to_drop_it():
    name = '"x" FROM rows; DROP TABLE rows; --'
    frame = pd.DataFrame({name: [1.0, 2.0, 4.0], "b": ["'); DROP TABLE rows; --", "z", "z"]})
    model = fitted_quietly(frame, [1.0, 3.0, 2.0])
    for dialect in DIALECTS:
        base = duckdb.connect() if dialect == "duckdb" else sqlite3.connect(":memory:")
        quoted = '"' + name.replace('"', '""') + '"'
        base.execute(f'CREATE TABLE rows ({quoted} DOUBLE, "b" VARCHAR)')
        base.execute("INSERT INTO rows VALUES (1.5, 'z')")
        found = base.execute(f"SELECT {model.to_sql(dialect)} FROM rows").fetchall()
        assert found[0][0] == pytest.approx(
            quietly(model, pd.DataFrame({name: [1.5], "b": ["z"]}))[0]
        )
        assert base.execute("SELECT count(*) FROM rows").fetchall() == [(1,)]
        base.close()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_column_that_is_not_there_is_an_error_and_no_text(dialect):
    model = fitted("data_pooling", world("texts"))
    rows = world("texts").rows.drop(columns=["marker"])
    with pytest.raises((duckdb.Error, sqlite3.Error), match="marker"):
        RUN[dialect](model.to_sql(dialect), rows)


class TestRefused:
    def model(self, **columns):
        frame = pd.DataFrame(columns)
        return fitted_quietly(frame, np.arange(float(len(frame))))

    def test_an_unknown_dialect(self):
        with pytest.raises(BadOption, match=r"dialect='oracle'.*'duckdb', 'sqlite'"):
            fitted("target_only", world("numbers")).to_sql("oracle")

    def test_names_that_differ_by_case_alone(self):
        model = self.model(age=[1.0, 2.0, 3.0], Age=[1.0, 0.0, 3.0])
        with pytest.raises(NotWritten, match=r"'age', 'Age' differ by case alone"):
            model.to_sql()

    @pytest.mark.parametrize("text", ["a\0b", "a\ud800"])
    @pytest.mark.parametrize("dialect", DIALECTS)
    def test_names_and_texts_with_letters_that_sql_has_not(self, text, dialect):
        for term in (NumberTerm(text, 1.0, 0.0), TextTerm("a", {"x": 0.0, text: 1.0}, 0.0)):
            with pytest.raises(NotWritten, match="has a character that SQL does not allow"):
                expression(Line(0.0, (term,), None, "y", True), dialect)

    def test_a_column_without_a_name(self):
        with pytest.raises(NotWritten, match="the name of a column is empty"):
            expression(Line(0.0, (NumberTerm("", 1.0, 0.0),), None, "y", True), "duckdb")
