"""How Sphinx builds these pages; ``make docs`` runs it."""

import re
import shutil
import sys
from importlib.metadata import version as installed
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # for gallery_pages, and paper in the gallery
# The gallery is made anew: a page may be as it was and the library not, or have another name.
shutil.rmtree(HERE / "gallery", ignore_errors=True)

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
    "sphinx-mathjax-offline",  # formulas are shown without a network
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "examples"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autosummary_generate = False  # the pages of api/ are written by hand, one per idea
autodoc_typehints = "none"  # numpydoc's Parameters sections give the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # autoclass lists them

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",  # written by the build
    "filename_pattern": r"\.py$",  # every page is run
    "subsection_order": [
        f"examples/{part}" for part in ("help", "trouble", "bends", "digits", "paper")
    ],
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": ("matplotlib", "gallery_pages.prepare"),
    "reset_modules_order": "both",
    "image_srcset": ["2x"],
    "notebook_extensions": set(),
    "download_all_examples": False,
    "write_computation_times": False,
    "min_reported_time": float("inf"),
    "show_signature": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"poolwise {release}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sidebars = {page: [] for page in ("index", "start", "benchmarks/index")}  # they have no pages
html_theme_options = {
    "header_links_before_dropdown": 9,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "show_toc_level": 2,
}


def setup(app):
    app.connect("autodoc-process-docstring", quote_attributes, priority=600)  # after numpydoc


def quote_attributes(app, what, name, obj, options, lines):
    """Quote names such as n_features_in_, whose last letter reStructuredText takes for a link."""
    lines[:] = [re.sub(r"(?<=[ (])([a-z]\w*_)(?=[ ,.;:)])", r"``\1``", line) for line in lines]
