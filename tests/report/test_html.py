"""Pages: one file, that loads nothing, says everything, and escapes every name."""

import itertools
import json
import re
import sys
from functools import cache
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

import poolwise
from poolwise.errors import BadOption, NotInstalled, NotWritten, PoolwiseWarning
from poolwise.report import html as rendering
from poolwise.wording import short, visible
from tests.linear_methods import LINEAR_METHODS
from tests.report.stories import HOSTILE

VOID = {"meta", "br", "img", "link", "input", "hr"}
ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "header", "main", "section", "nav"),
    *("footer", "a", "h1", "h2", "h3", "p", "ul", "li", "dl", "dt", "dd", "div", "span", "em"),
    *("strong", "code", "bdi", "time", "table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("figure", "figcaption", "svg", "desc", "g", "defs", "path", "use", "text"),
}
TEMPLATES = Path(rendering.__file__).parent / "templates"


class Page(HTMLParser):
    """Elements with their attributes and texts, and whether they nest."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts, self.open, self.flaws = [], [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.flaws.append(tag)

    def handle_data(self, text):
        self.texts.append(text)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@cache
def html_of(made):
    """Return the page of a report that several tests read: it is drawn once."""
    return made.html()


@cache
def page_of(made):
    return Page(html_of(made))


PAGES = ["helping", "useless", "alone", "bad_names"]


@pytest.fixture(params=PAGES)
def made(request):
    return request.getfixturevalue(request.param)


def test_elements_nest_and_are_those_of_the_template(made):
    page = page_of(made)
    assert page.flaws == []
    assert page.open == []
    assert {tag for tag, _ in page.tags} <= ALLOWED


def test_no_attribute_runs_code_or_loads_anything(made):
    for tag, attributes in page_of(made).tags:
        assert not [a for a in attributes if a.startswith("on")], tag
        assert not {"src", "srcset", "action", "xlink:href"} & attributes.keys(), tag
        if "href" in attributes:
            assert attributes["href"].startswith("#")
    assert "url(" not in html_of(made)
    assert "@import" not in html_of(made)
    assert "//" not in (TEMPLATES / "style.css").read_text()


def test_links_inside_the_page_lead_somewhere_and_no_id_is_there_twice(made):
    page = page_of(made)
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    pointing = [a["href"][1:] for a in page.all("a")]
    pointing += [k for _, a in page.tags for k in a.get("aria-labelledby", "").split()]
    pointing += [a["href"][1:] for a in page.all("use")]
    assert set(pointing) <= set(ids)


def test_the_page_says_what_the_data_say(made):
    page = page_of(made)
    said = " ".join(" ".join(page.texts).split())
    for sentence in (made.data["verdict"]["headline"], *made.data["verdict"]["sentences"]):
        assert " ".join(visible(sentence).split()) in said
    for caution in made.data["cautions"]:
        assert visible(caution) in said
    assert made.data["diagnostics"]["conflict"]["text"] in said


def test_every_drawing_is_xml_with_a_title_and_a_description(made):
    drawings = re.findall(r"<svg viewBox.*?</svg>", html_of(made), re.S)
    assert len(drawings) >= 6
    for text in drawings:
        svg = ET.fromstring(text)
        title, desc = svg.find("title"), svg.find("desc")
        assert svg.get("role") == "img"
        assert svg.get("aria-labelledby") == f"{title.get('id')} {desc.get('id')}"
        assert title.text
        assert desc.text
        assert {e.tag for e in svg.iter()} <= ALLOWED


@pytest.mark.parametrize("name", HOSTILE[:-1])
def test_a_bad_name_is_shown_and_nothing_else(bad_names, name):
    page = page_of(bad_names)
    assert any(short(name, 60) in text for text in page.texts)
    assert all(text.replace("\n", "").isprintable() for text in page.texts)
    for _, attributes in page.tags:
        assert all((value or "").isprintable() for value in attributes.values())


def test_a_long_name_is_shortened_and_told_in_full_when_pointed_at(bad_names):
    titles = {a["title"] for a in page_of(bad_names).all("bdi") if "title" in a}
    assert "x" * 400 in titles


def test_the_page_is_small_and_ascii(made):
    html = html_of(made)
    assert html.isascii()
    assert len(html) < 155_000


def test_a_page_about_very_much_stays_under_two_megabytes(bad_names):
    data = json.loads(bad_names.json())
    many, long = 12_000, "<" * 3000
    line = data["coefficients"]["lines"][0]
    data["coefficients"]["lines"] = [
        line | {"name": f"{k}{long}", "rank": k, "is_drawn": k < 20} for k in range(many)
    ]
    note = {
        "name": long,
        "lacking_in": [long] * 50,
        "unused": {f"{long}{k}": "-" for k in range(9)},
    }
    data["columns"]["notes"] = [note] * many
    data["columns"]["dropped"] = [{"name": long, "source": long, "why": "?"}] * many
    data["columns"]["groups"] = [x | {"names": [long] * many} for x in data["columns"]["groups"]]
    data["tables"] = [data["tables"][0] | {"name": long, "lacks": [long] * 50}] * many
    data["cautions"] = [long] * many
    data["provenance"]["command"] = f"poolwise {long * 100}"
    data["provenance"]["files"] = [data["provenance"]["files"][0] | {"path": long}] * many
    for caution, left in (("?", "11,950"), ("?" * 3000, "11,950")):
        data["coefficients"]["cautions"] = [caution] * many
        html = rendering.page(data)
        assert len(html) < 2_000_000
        assert f"{left} more columns, with smaller effects, are not listed." in html
        assert html.count(f"{left} more") == 7


@pytest.mark.slow
def test_a_page_lists_the_columns_with_the_largest_effects(monkeypatch):
    page = import_module("poolwise.report.html")  # poolwise.report is the function
    monkeypatch.setattr(page, "LISTED", ((20, 400), (10, 100), (10, 0)))
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 30))).rename(columns=lambda k: f"column {k}")
    y = X @ np.arange(30.0) + rng.normal(size=300)
    gone = pd.DataFrame(0.0, X.index, [f"gone {k}" for k in range(12_000)])
    wide = pd.concat([X, gone], axis=1)
    with pytest.warns(PoolwiseWarning):
        made = poolwise.report(X, y, sources={"old": (wide, y)}, methods=["mean_fill"], cv=KFold(2))
    html = made.html()
    assert len(html) < 2_000_000
    assert "column 29<" in html
    assert "column 15<" in html
    assert "10 more columns, with smaller effects, are not listed." in html
    assert len(made.data["coefficients"]["lines"]) == 30


def test_headings_go_down_one_level_at_a_time(made):
    levels = [int(tag[1]) for tag, _ in page_of(made).tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(levels))


def test_every_table_has_a_caption_and_every_head_says_what_it_heads(made):
    page = page_of(made)
    assert len(page.all("table")) == len(page.all("caption")) > 3
    assert {a.get("scope") for a in page.all("th")} <= {"col", "colgroup", "row", "rowgroup"}
    regions = [a for a in page.all("div") if a.get("role") == "region"]
    assert len(regions) == len(page.all("table"))
    assert all(a["tabindex"] == "0" for a in regions)


def test_the_page_has_a_language_and_a_policy_that_forbids_scripts(made):
    page = page_of(made)
    assert page.all("html") == [{"lang": "en"}]
    policy = [a["content"] for a in page.all("meta") if "http-equiv" in a]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]


@pytest.mark.parametrize("method", LINEAR_METHODS)
def test_every_method_makes_a_page(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3)) * [1e60, 1.0, 1e-60]
    y = X @ [1e-60, 2.0, 3e60] + rng.normal(size=90)
    history = (X[30:, :2], y[30:])
    made = poolwise.report(X[:30], y[:30], sources=history, method=method, cv=3, methods=[])
    assert made.data["method"] == method
    assert Page(made.html()).flaws == []


def test_a_new_page_is_not_written_over_an_old_one(helping, tmp_path):
    path = tmp_path / "report.html"
    helping.save(path)
    assert path.read_text(encoding="ascii") == html_of(helping)
    path.write_text("mine")
    with pytest.raises(NotWritten, match=r"report\.html"):
        helping.save(path)
    assert path.read_text() == "mine"
    helping.save(path, overwrite=True)
    assert path.read_text() == html_of(helping)
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_the_ending_says_what_is_written(helping, tmp_path):
    helping.save(tmp_path / "report.json")
    assert (tmp_path / "report.json").read_text() == helping.json()
    with pytest.raises(BadOption, match=r"\.html or \.json"):
        helping.save(tmp_path / "report.pdf")


def test_without_jinja_the_data_are_still_there(helping, monkeypatch):
    rendering._template.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(NotInstalled, match=r"poolwise\[report\]"):
        helping.html()
    assert helping.json()


def test_letters_stand_out_from_what_is_behind_them():
    css = (TEMPLATES / "style.css").read_text()
    blocks = re.findall(r":root \{(.*?)\}", css, re.S)
    assert len(blocks) == 3  # light, dark, print
    for block in blocks:
        colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block))
        for behind in ("back", "box"):
            for letters in ("text", "soft", "with"):
                assert contrast(colours[letters], colours[behind]) >= 4.5, (letters, behind)
        for drawn in ("with", "without", "bad", "good"):
            assert contrast(colours[drawn], colours["back"]) >= 4.5, drawn
        assert contrast(colours["with"], colours["band"]) >= 3.0


def contrast(one, other):
    """Return the contrast of two colours, by the definition of WCAG 2.1."""

    def luminance(colour):
        parts = [int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
