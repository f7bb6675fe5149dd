"""Report: what we tell people, as one page and as plain data."""

from poolwise.report.report import Report, report

__all__ = ["Report", "report"]
