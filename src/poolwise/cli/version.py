"""poolwise version: what is installed."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from poolwise import __version__
from poolwise.cli.arguments import AsJson
from poolwise.cli.screen import say, say_json

FORMAT, VERSION = "poolwise version", 1
PACKAGES = ("numpy", "scipy", "scikit-learn", "pyarrow", "typer", "rich")


def tell_version(as_json: AsJson = False) -> None:
    """Say which version of poolwise this is, and on what it stands."""
    packages = {package: _version(package) for package in PACKAGES}
    if as_json:
        say_json(
            {
                "format": FORMAT,
                "version": VERSION,
                "poolwise": __version__,
                "python": platform.python_version(),
                "packages": packages,
            }
        )
        return
    there = [f"{package} {own or 'not installed'}" for package, own in packages.items()]
    say(f"poolwise {__version__}")
    say(f"Python {platform.python_version()}, {', '.join(there)}")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
