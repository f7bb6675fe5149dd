"""The report as people see it: in Chromium, on a telephone, in the dark, and on paper.

Run by ``make test-browser``, which brings Chromium along, and left out of ``make test``.
"""

import io
import os
import re
import shutil
import unicodedata
from xml.etree import ElementTree as ET

import pytest

from poolwise.report.figures import figures

pytestmark = pytest.mark.browser

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = [  # nothing may be asked of the network, by the browser itself either
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PAGES = ["helping", "useless", "alone", "bad_names"]
SCHEMES = ["light", "dark"]
WIDTHS = [320, 375, 641, 1100]


@pytest.fixture(scope="session")
def chromium():
    from playwright.sync_api import sync_playwright

    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.fail("No Chromium. Install it, or name it in the environment variable CHROMIUM.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture(params=PAGES)
def made(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def show(chromium, tmp_path):
    """Return a function that opens a report, and then check that all was quiet."""
    contexts, heard = [], []

    def opened(report, width=1100, **options):
        file = tmp_path / "report.html"
        report.save(file, overwrite=True)
        context = chromium.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("dialog", lambda dialog: heard.append(dialog.message))
        page.on("request", lambda r: r.url == file.as_uri() or heard.append(r.url))
        page.goto(file.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert heard == []


def test_the_verdict_is_that_of_the_data(show, made):
    page = show(made)
    shown = page.locator("#verdict p").all_inner_texts()
    assert " ".join(shown) == made.data["verdict"]["text"]


def test_the_page_reads_the_same_without_scripts(show, made):
    page = show(made, java_script_enabled=False)
    shown = page.locator("#verdict p").all_inner_texts()
    assert " ".join(shown) == made.data["verdict"]["text"]
    assert page.locator("table").last.is_visible()


@pytest.mark.parametrize(("width", "size"), [(375, "narrow"), (1100, "wide")])
def test_tables_and_figures_are_there_in_the_right_size(show, made, width, size):
    page = show(made, width)
    drawn = page.locator("figure svg[role=img]")
    seen = [drawn.nth(k) for k in range(drawn.count()) if drawn.nth(k).is_visible()]
    keys = [svg.get_attribute("aria-labelledby").split("-")[1:3] for svg in seen]
    assert keys == [[key, size] for key in ordered(figures(made.data))]
    for svg in seen:
        box = svg.bounding_box()
        assert box["width"] > 200
        assert box["height"] > 80
    tables = page.locator("table")
    assert tables.count() == page.locator("caption").count() >= 4
    assert all(tables.nth(k).is_visible() for k in range(tables.count()))


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_sticks_out(show, made, width):
    page = show(made, width)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # Not even behind a hidden overflow; a wide table scrolls inside its own box.
    sticking_out = page.evaluate(
        """() => [...document.querySelectorAll("body *")]
            .filter(e => !e.closest(".scroll > *") && !e.closest(".skip"))
            .filter(e => e.getBoundingClientRect().right > innerWidth + 0.5)
            .map(e => e.outerHTML.slice(0, 100))"""
    )
    assert sticking_out == []


@pytest.mark.parametrize("width", [375, 1100])
def test_no_letters_of_a_figure_are_cut_off(show, made, width):
    page = show(made, width)
    cut = page.evaluate(
        """() => [...document.querySelectorAll("figure svg[role=img]")].flatMap(svg => {
            const box = svg.getBoundingClientRect();
            return [...svg.querySelectorAll("text")].filter(t => {
                const own = t.getBoundingClientRect();
                return own.left < box.left - 1 || own.right > box.right + 1
                    || own.top < box.top - 1 || own.bottom > box.bottom + 1;
            }).map(t => t.textContent);
        })"""
    )
    assert cut == []


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [375, 1100])
def test_axe_finds_no_serious_violation(show, made, scheme, width):
    from axe_playwright_python.sync_playwright import Axe

    page = show(made, width, color_scheme=scheme)
    found = Axe().run(page).response
    assert len(found["passes"]) > 30
    serious = [v for v in found["violations"] if v["impact"] in ("serious", "critical")]
    assert [(v["id"], v["nodes"][0]["html"]) for v in serious] == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_letters_of_figures_stand_out(show, helping, scheme):
    page = show(helping, color_scheme=scheme)
    behind = channels(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))
    assert (sum(behind) < 150) == (scheme == "dark")
    fills = page.evaluate(
        """() => [...document.querySelectorAll("figure text")].map(t => getComputedStyle(t).fill)"""
    )
    assert len(set(fills)) >= 2
    for fill in set(fills):
        assert contrast(channels(fill), behind) >= 4.5


def test_bad_names_make_no_element(show, bad_names):
    page = show(bad_names)
    found = (
        "script, img, iframe, object, embed, link, u, s, i, b, [onload], [onerror], [onmouseover]"
    )
    assert page.locator(found).count() == 0
    assert page.locator("h1").inner_text() == "<h1>\\ud800</h1>"
    assert page.title() == "<h1>\\ud800</h1>"


def test_the_first_key_leads_past_the_contents(show, helping):
    page = show(helping)
    page.keyboard.press("Tab")
    focused = page.locator(":focus")
    assert focused.inner_text() == "Skip to the verdict"
    assert focused.bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.url.endswith("#verdict")


# Two usual papers, and more heights, so that some page would end in the middle of a figure.
PAPERS = [(210, 297), (216, 279), *((210, height) for height in range(200, 290, 10))]


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("story", ["helping", "useless"])
def test_no_figure_is_cut_on_paper(show, request, story, paper):
    made = request.getfixturevalue(story)
    page = show(made, color_scheme="dark")
    captions = [squeezed(c) for c in page.locator("figcaption").all_inner_texts()]
    pages, drawn = printed(page, paper), figures(made.data)
    for key, caption in zip(ordered(drawn), captions, strict=True):
        texts = [squeezed(t.text) for t in ET.fromstring(drawn[key]["wide"]).iter("text")]
        assert any(all(t in page for t in (*texts, caption)) for page in pages), key
    whole = "".join(pages)
    assert squeezed(made.data["verdict"]["headline"]) in whole
    assert squeezed("Provenance") in whole


def printed(page, paper):
    """Return the text of each printed page, without spaces."""
    from pypdf import PdfReader

    width, height = paper
    pdf = page.pdf(width=f"{width}mm", height=f"{height}mm", print_background=True)
    return [squeezed(p.extract_text()) for p in PdfReader(io.BytesIO(pdf)).pages]


def squeezed(text):
    """Return a text without spaces and ligatures."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text))


def ordered(keys):
    """Return figures in the order of the page."""
    return [k for k in ("changes", "methods", "coefficients", "plan", "residuals") if k in keys]


def channels(colour):
    return [int(part) for part in re.findall(r"\d+", colour)[:3]]


def contrast(one, other):
    """Return the contrast of two colours, by the definition of WCAG 2.1."""

    def luminance(parts):
        shares = [p / 255.0 for p in parts]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in shares]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
