"""Seeds: statements counted over many of them."""

import pytest

from paper import figures
from paper.expectations import Judgement, SeedTally, judgements, main, tally


def test_a_tally_counts_what_each_seed_says():
    found = tally("gain_mean", [0, 3])
    singly = [judgements(figures.run("gain_mean", seed=s), "gain_mean") for s in (0, 3)]
    assert [t.says for t in found] == [v.says for v in singly[0]]
    assert [t.holds for t in found] == [a.holds + b.holds for a, b in zip(*singly, strict=True)]


def test_the_middle_leaves_out_a_fortieth_on_either_side():
    verdicts = [Judgement("It is low.", k < 30, "", (float(k), k + 0.5)) for k in range(41)]
    counted = SeedTally.of(verdicts)
    assert (counted.low, counted.high) == pytest.approx((1.0, 39.5))
    assert str(counted) == "30 of 41, middle 95 %: 1 to 39.5. It is low."


def test_the_command_prints_a_line_per_statement(capsys):
    main(["gain_mean", "--seeds", "1"])
    name, *lines = capsys.readouterr().out.splitlines()
    assert name == "gain_mean"
    assert [line.split(",")[0] for line in lines] == ["  1 of 1"] * 4


def test_the_command_knows_the_figures(capsys):
    with pytest.raises(SystemExit):
        main(["gain"])
    assert "gain_noise" in capsys.readouterr().err
