"""What holds while a page of the gallery runs: one style, and no warning goes unseen."""

import warnings
from pathlib import Path

import matplotlib.pyplot as plt

STYLE = Path(__file__).with_name("gallery.mplstyle")
filters_before = []


def prepare(gallery_conf, page, when):
    """Make every warning an error before a page, and give Sphinx its own filters back after it."""
    if when == "before":
        plt.style.use(STYLE)
        filters_before[:] = warnings.filters
        warnings.simplefilter("error")
    else:
        warnings.filters[:] = filters_before
