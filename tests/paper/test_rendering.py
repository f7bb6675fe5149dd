"""Rendered tables: the paper's format and marks, the printed numbers beside ours, a summary."""

from html.parser import HTMLParser

import numpy as np
import pytest

from paper.agreement import Tally, agreement, compare_digits, other_marks, shown, total
from paper.rendering import Cell, Grid, GridLine, statistics_grid, table_grid
from paper.specs import read_statistics, read_table_spec

SPEC = read_table_spec("small5")


def errors_like(dataset, runs=50):
    """Errors with the printed mean and deviation, in which dp is smallest in nearly all runs."""
    line = SPEC.published[dataset]
    wave = np.sin(np.arange(runs))
    wave = (wave - wave.mean()) / wave.std(ddof=1)
    return {m: line.means[m] + line.sds[m] * wave for m in SPEC.methods}


def test_numbers_are_written_as_in_the_paper():
    assert [shown(x) for x in (14.7004, 0.28996, 4.771e9, 110.0, 2876.0)] == [
        "14.7",
        "0.29",
        "4.77e+09",
        "110",
        "2.88e+03",
    ]


@pytest.mark.parametrize(
    ("ours", "printed", "agree", "next_to"),
    [
        (14.74, 14.7, 1, 0),
        (14.76, 14.7, 0, 1),
        (14.9, 14.7, 0, 0),
        (0.9996, 0.999, 0, 1),
        (6.08e4, 6.1e4, 0, 0),
        (9.99, 10.0, 0, 1),
        (np.nan, 1.0, 0, 0),
    ],
)
def test_a_number_agrees_to_the_printed_digits_or_is_off_by_one_unit(ours, printed, agree, next_to):
    assert compare_digits(ours, printed) == Tally(agree, next_to, 1)


def test_errors_with_the_printed_moments_agree():
    found = agreement(SPEC, {"pumadyn32nm": errors_like("pumadyn32nm")})
    assert (found.means, found.sds) == (Tally(4, 0, 4), Tally(4, 0, 4))
    assert found.marks == Tally(3, 0, 3)
    assert not found.shortened
    assert str(total([found, found])) == (
        "Agree with the printed digits: 8 of 8 means, 8 of 8 standard deviations, 6 of 6 marks."
    )


def test_fewer_runs_than_the_paper_are_told():
    found = agreement(SPEC, {"pumadyn32nm": errors_like("pumadyn32nm", 10)})
    assert "fewer runs" in str(found)


def test_a_table_shows_ours_above_the_printed_with_marks():
    text = table_grid(SPEC, "published", {"pumadyn32nm": errors_like("pumadyn32nm")}).text("md")
    assert "(Table 2, published protocol)" in text
    assert "| dataset | ols | dsft | dsft-nl | dp |" in text
    ours, printed = (line for line in text.splitlines() if "0.0393" in line)
    assert ours.startswith("| pumadyn32nm | 1.49 ± 0.142 |")
    assert printed.startswith("| printed | 1.49 ± 0.142 |")
    assert ours.endswith("| <u>_1.11 ± 0.0393_</u> |")


def test_what_differs_is_bold_and_told():
    errors = errors_like("pumadyn32nm")
    errors["dp"] = errors["ols"].copy()
    found = {"pumadyn32nm": errors}
    assert other_marks(SPEC, found)[0] == (
        "pumadyn32nm: dp against ols is not different, printed better"
    )
    text = table_grid(SPEC, "published", found).text("md")
    assert "| pumadyn32nm\\* |" in text
    assert "<u>_**1.11** ± **0.0393**_</u> |" in text
    assert "Marks that differ from the printed ones: pumadyn32nm: dp against ols" in text


def test_where_the_means_contradict_the_ranks_both_are_shown():
    errors = errors_like("pumadyn32nm")
    errors["dp"][0] = 1000.0
    lines = table_grid(SPEC, "published", {"pumadyn32nm": errors}).text("md").splitlines()
    by_means = next(line for line in lines if line.startswith("| pumadyn32nm"))
    by_ranks = next(line for line in lines if line.startswith("| by ranks"))
    assert by_means.startswith("| pumadyn32nm† |")
    assert by_ranks.startswith("| by ranks |")
    assert by_ranks.endswith("</u> |")
    assert any("In 3 significant comparisons the means contradict the ranks." in x for x in lines)


def test_other_methods_have_a_column_without_printed_numbers():
    errors = {"concrete": {"dp": np.array([14.0, 15.0]), "offset": np.array([13.0, 14.0])}}
    grid = table_grid(SPEC, "corrected", errors)
    assert grid.head == ("dataset", "dp", "offset")
    assert [cell.text for cell in grid.lines[1].cells] == ["printed*", "14.3 ± 2.81", "–"]


def test_marks_are_computed_from_the_methods_that_were_run():
    errors = {m: e for m, e in errors_like("pumadyn32nm").items() if m in ("ols", "dp")}
    errors["mean_fill"] = errors["dp"]
    grid = table_grid(SPEC, "published", {"pumadyn32nm": errors})
    assert grid.head == ("dataset", "ols", "dp", "mean_fill")
    assert [line.cells[0].text for line in grid.lines] == ["pumadyn32nm", "printed"]
    assert grid.notes[0].endswith("1 of 1 marks.")
    del errors["ols"]
    grid = table_grid(SPEC, "published", {"pumadyn32nm": errors})
    assert grid.lines[0].cells[0].text == "pumadyn32nm?"


def test_only_the_number_that_differs_is_bold():
    errors = errors_like("pumadyn32nm")
    errors["dsft"] = errors["dsft"] + 0.01
    ours, printed = table_grid(SPEC, "published", {"pumadyn32nm": errors}).lines
    assert [cell.bold for cell in printed.cells] == [set(), set(), {0}, set(), set()]
    assert not any(cell.bold for cell in ours.cells)


def test_a_method_that_one_dataset_lacks_has_a_dash_there_and_nothing_bold():
    errors = {"concrete": errors_like("concrete", 21), "energy": errors_like("energy", 15)}
    del errors["energy"]["dsft"]
    lines = table_grid(SPEC, "published", errors).lines
    assert [lines[k].cells[2].text for k in (-2, -1)] == ["–", "3.91 ± 0.434"]
    assert not lines[-1].cells[2].bold


class Balance(HTMLParser):
    """Every tag that is opened is closed, in the right order."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)
            self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_pages_are_balanced_and_lines_have_as_many_cells_as_the_head():
    errors = errors_like("pumadyn32nm")
    errors["dp"][0] = 1000.0
    errors["mean_fill"] = errors["ols"] + 0.01
    grid = table_grid(SPEC, "published", {"pumadyn32nm": errors})
    formats = {ending: grid.text(ending) for ending in ("md", "tex", "html")}
    page = Balance()
    page.feed(formats["html"])
    assert not page.open
    assert page.seen.count("tr") == 1 + 3
    assert page.seen.count("th") + page.seen.count("td") == 4 * 6
    latex = formats["tex"].replace(r"\{", "").replace(r"\}", "")
    assert latex.count("{") == latex.count("}")
    assert latex.count("$") % 2 == 0
    assert latex.count(r"\begin") == latex.count(r"\end")
    body = [line for line in latex.splitlines() if line.endswith((r"\\", r"\hline"))]
    assert [line.count("&") for line in body] == [5] * 4
    assert latex.isascii()
    table = [line for line in formats["md"].splitlines() if line.startswith("|")]
    assert {line.replace(r"\|", "").count("|") for line in table} == {7}


def test_one_run_has_no_deviation():
    grid = table_grid(SPEC, "published", {"concrete": {"dp": np.array([14.0])}})
    assert grid.lines[0].cells[1].text == "14 ± –"
    assert grid.lines[1].cells[1].bold == frozenset({0})  # printed: 14.3
    assert grid.notes[0] == (
        "Agree with the printed digits: 0 of 1 means. "
        "There were fewer runs than in the paper: do not expect agreement."
    )


def test_of_methods_that_the_paper_has_not_nothing_is_counted():
    said = str(agreement(SPEC, {"concrete": {"offset": np.arange(21.0)}}))
    assert said == "The paper has no numbers for these methods."


def test_three_formats_carry_the_same_marks():
    marked = Cell("1 ± 2", underlined=True, italic=True, bold=frozenset({2}))
    line = GridLine((Cell("a_b†"), marked), aside=True)
    grid = Grid("Title", ("x", "y"), (line,), ("p < 1",))
    formats = {ending: grid.text(ending) for ending in ("md", "tex", "html")}
    assert "| a\\_b† | <u>_1 ± **2**_</u> |" in formats["md"]
    latex = r"a\_b\textsuperscript{\textdagger} & \underline{\textit{1 $\pm$ \textbf{2}}} \\"
    assert latex in formats["tex"]
    row = '<th scope="row">a_b†</th><td><u><i>1 ± <b>2</b></i></u></td>'
    assert f'<tr class="aside">{row}</tr>' in formats["html"]
    assert "p &lt; 1" in formats["html"]


def test_statistics_show_the_printed_number_where_it_differs():
    printed = read_statistics()
    ours = {**printed, "sml": printed["concrete"]}
    grid = statistics_grid(ours, printed)
    assert grid.lines[-1].cells[1].text == "1030 (printed 4137)"
    assert grid.lines[0].cells[1].text == "1030"
    assert grid.notes[0] == "Agree with the paper: 48 of 54 numbers."
