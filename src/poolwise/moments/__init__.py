"""Summary statistics of tables: sums, files, disclosure checks and published models."""
