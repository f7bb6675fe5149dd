"""Roles of columns: shared by all tables, new, or left out, and why."""

from __future__ import annotations

from typing import Any

from poolwise.linear.linear_fit import LinearFit
from poolwise.tables.column_account import called
from poolwise.tables.encoding import Column
from poolwise.tables.intake import Intake
from poolwise.wording import named, plural

# Lines that the page has anyway: in its table of columns, or as a caution.
BY_TABLE = ("shared", "new", "columns", "in some", "dropped", "note")
ROLES = {
    "new": "New: history lacks them",
    "partly shared": "In part of the history",
    "shared": "In all tables",
    "target": "In the recent rows",
}


def columns(intake: Intake, fit: LinearFit) -> dict[str, Any]:
    """Return the roles of the columns of all tables, and the account of them."""
    lines = [_line(column, intake, fit) for column in intake.columns]
    account = intake.account
    left_out = () if account is None else account.dropped
    dropped = [{"name": called(c.name), "source": c.table, "why": c.why} for c in left_out]
    return {
        "text": _text(lines, dropped, intake),
        "groups": _groups(lines),
        "lines": lines,
        "notes": [x for x in lines if x["role"] == "partly shared" or x["unused"]],
        "dropped": dropped,
        "account": None if account is None else account.to_dict(),
        "said": [] if account is None else [x for x in account.lines() if x[0] not in BY_TABLE],
    }


def _line(column: Column, intake: Intake, fit: LinearFit) -> dict[str, Any]:
    sources = intake.problem.sources
    lacking = [n for n, s in sources.items() if not any(out in s for out in column.outputs)]
    role = "new" if len(lacking) == len(sources) else "partly shared" if lacking else "shared"
    kind = "number" if column.levels is None else plural(len(column.levels), "level")
    unused = {out: fit.dropped[out] for out in column.outputs if out in fit.dropped}
    return {
        "name": column.name,
        "kind": kind,
        "role": role if sources else "target",
        "lacking_in": lacking,
        "seen_in": len(sources) - len(lacking),
        "unused": unused,
    }


def _groups(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the columns by the tables that have them."""
    groups = []
    for role, label in ROLES.items():
        names = [
            x["name"] if x["kind"] == "number" else f"{x['name']} ({x['kind']})"
            for x in lines
            if x["role"] == role
        ]
        if names:
            groups.append({"role": role, "label": label, "names": names})
    return groups


def _text(lines: list[dict[str, Any]], dropped: list[dict[str, Any]], intake: Intake) -> str:
    if not intake.problem.sources:
        return f"The recent rows have {plural(len(lines), 'column')}, and there is no history."
    by_role = {
        role: [x["name"] for x in lines if x["role"] == role]
        for role in ("shared", "new", "partly shared")
    }
    said = [f"{plural(len(by_role['shared']), 'column')} in all tables"]
    if new := by_role["new"]:
        said.append(f"{len(new):,} new, which history lacks ({named(new)})")
    if partly := by_role["partly shared"]:
        said.append(f"{len(partly):,} in part of the history ({named(partly)})")
    if dropped:
        names = list(dict.fromkeys(x["name"] for x in dropped))
        said.append(f"{len(names):,} left out ({named(names)})")
    return "; ".join(said) + "."
