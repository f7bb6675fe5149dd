"""The page of a report: its contents as HTML. Nothing is computed here."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poolwise.errors import NotInstalled
from poolwise.report import number_format
from poolwise.report.figures import figures
from poolwise.wording import (
    change_range,
    change_words,
    number,
    percent,
    plural,
    probability,
    short,
    visible,
)

if TYPE_CHECKING:
    from jinja2 import Template

LARGEST = 2_000_000  # bytes of a page
# Lines of a table, and letters of a long name that are shown when one points at it: as many as a
# page of that size can have.
LISTED = ((200, 400), (50, 100), (10, 0))


def page(data: dict[str, Any]) -> str:
    """Return a self-contained page of the data of a report, as ASCII text."""
    from markupsafe import Markup

    drawn = {
        key: {size: Markup(svg) for size, svg in sizes.items()}
        for key, sizes in figures(data).items()
    }
    text = ""
    for lines, letters in LISTED:
        text = _template().render(data=data, figures=drawn, MOST=lines, POINTED=letters)
        text = text.encode("ascii", "xmlcharrefreplace").decode("ascii")
        if len(text) < LARGEST:
            break
    return text


@lru_cache(maxsize=1)
def _template() -> Template:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        otherwise = "Report.data and Report.json() have the same without it."
        raise NotInstalled.of("A page", "jinja2", "report", otherwise) from error
    env = Environment(
        loader=PackageLoader("poolwise.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters |= {
        "change": change_words,
        "change_range": lambda x: change_range(x["low"], x["high"]),
        "count": plural,
        "number": number,
        "p_value": number_format.p_value,
        "percent": percent,
        "probability": probability,
        "short": short,
        "signed": number_format.signed,
        "visible": visible,
    }
    return env.get_template("page.html")


def _shown(value: Any) -> Any:
    """Write out control characters in every text, before it is escaped."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return visible(value)
    return value
