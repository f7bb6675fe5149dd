"""The report: the verdict and its reasons, as one HTML page and as plain data."""

from poolwise.report.report import Report, report

__all__ = ["Report", "report"]
