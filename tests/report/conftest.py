"""Reports that several tests read."""

import pytest
from sklearn.model_selection import KFold

import poolwise
from poolwise.errors import LeftOut
from tests.report.stories import bearings, diabetes, hostile

FEW = {"cv": KFold(4, shuffle=True, random_state=3), "methods": ["data_pooling", "mean_fill"]}
WHEN = "2025-01-31T12:00:00+00:00"


@pytest.fixture(scope="session")
def helping():
    X, y, sources = diabetes()
    return poolwise.report(X, y, sources=sources, date=WHEN, **FEW)


@pytest.fixture(scope="session")
def useless():
    X, y, sources = bearings()
    return poolwise.report(X, y, sources=sources, date=WHEN, **FEW)


@pytest.fixture(scope="session")
def alone():
    X, y, _ = diabetes()
    return poolwise.report(X, y, date=WHEN, cv=FEW["cv"])


@pytest.fixture(scope="session")
def bad_names(tmp_path_factory):
    X, y, sources = hostile()
    file = tmp_path_factory.mktemp("files") / "<img src=x onerror=alert(5)>\x1b.csv"
    file.write_text("a")
    with pytest.warns(LeftOut):
        return poolwise.report(
            X,
            y,
            sources=sources,
            date="<time>\x07",
            title="<h1>\ud800</h1>",
            command=["poolwise", "<b>\x1b[0m"],
            files={"<t>": file},
            **FEW,
        )
