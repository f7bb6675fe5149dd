"""Tables on standard output: words begin on the left, numbers end on the right."""

from poolwise.cli.screen import show_table


def test_words_begin_on_the_left_and_numbers_end_on_the_right(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    head = [
        "table",
        "rows",
        "lacks",
        "share",
        "interval",
        "95 %",
        "in",
        "p",
        "apart",
        "note",
        "no",
    ]
    rows = [
        [
            "1999",
            "1,000",
            "speed",
            "7%",
            "0.1 to 12",
            "[-3.19, +0.02]",
            "1 of 1",
            "< 0.001",
            "0.3 sd",
            "",
            "-",
        ],
        ["names", "9", "-", "100%", "-", "-", "-", "1e-05", "12 sd", "late", "-"],
    ]
    show_table(head, rows)
    assert capsys.readouterr().out.splitlines() == [
        "table   rows  lacks  share   interval            95 %      in        p   apart  note  no",
        "1999   1,000  speed     7%  0.1 to 12  [-3.19, +0.02]  1 of 1  < 0.001  0.3 sd        -",
        "names      9  -       100%          -               -       -    1e-05   12 sd  late  -",
    ]


def test_a_table_without_rows_is_its_head(capsys):
    show_table(["name", "rows"], [])
    assert capsys.readouterr().out == "name  rows\n"
