"""poolwise version: what is installed."""

from __future__ import annotations

import platform

from poolwise.cli.arguments import AsJson
from poolwise.cli.screen import say, say_json

FORMAT, VERSION = "poolwise version", 1
PACKAGES = ("numpy", "scipy", "scikit-learn", "pyarrow", "typer", "rich")


def tell_version(as_json: AsJson = False) -> None:
    """Say which version of poolwise this is, and on what it stands."""
    own = _version("poolwise") or "from a folder, not installed"
    packages = {package: _version(package) for package in PACKAGES}
    if as_json:
        say_json(
            {
                "format": FORMAT,
                "version": VERSION,
                "poolwise": own,
                "python": platform.python_version(),
                "packages": packages,
            }
        )
        return
    names = [f"{package} {there or 'not installed'}" for package, there in packages.items()]
    say(f"poolwise {own}")
    say(f"Python {platform.python_version()}, {', '.join(names)}")


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None
