"""Verdicts: whether history helps, in words that stand out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from poolwise.cli.screen import say

STYLES = {  # answer of a report -> how it is shown on a terminal
    "helps": "bold green",
    "probably_helps": "bold green",
    "hurts": "bold red",
    "does_not_help": "bold yellow",
    "matters_little": "bold yellow",
    "unclear": "bold yellow",
}


def say_verdict(verdict: Mapping[str, Any]) -> None:
    """Print a verdict, its first sentence in bold.

    Parameters
    ----------
    verdict : mapping
        With ``text``, and from a report also ``answer``, ``headline`` and ``sentences``.
    """
    if "headline" not in verdict:
        say(verdict["text"])
        return
    say(verdict["headline"], STYLES.get(verdict["answer"] or "", "bold"))
    say(" ".join(verdict["sentences"]))
