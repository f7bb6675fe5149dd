"""How Sphinx builds these pages; ``make docs`` runs it."""

import re
from importlib.metadata import version as installed

project = "poolwise"
author = "The poolwise developers"
copyright = author
version = release = installed("poolwise")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
]
exclude_patterns = ["_build"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autosummary_generate = False  # the pages of api/ are written by hand, one per idea
autodoc_typehints = "none"  # numpydoc's Parameters sections give the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # autoclass lists them

html_theme = "pydata_sphinx_theme"
html_title = f"poolwise {release}"
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "navigation_with_keys": False,
    "show_toc_level": 2,
}


def setup(app):
    app.connect("autodoc-process-docstring", quote_attributes, priority=600)  # after numpydoc


def quote_attributes(app, what, name, obj, options, lines):
    """Quote names such as n_features_in_, whose last letter reStructuredText takes for a link."""
    lines[:] = [re.sub(r"(?<=[ (])([a-z]\w*_)(?=[ ,.;:)])", r"``\1``", line) for line in lines]
