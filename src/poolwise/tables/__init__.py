"""Anything with rows becomes moments: tables in memory, files, streams, Dask and Spark.

``intake.py`` makes a problem of the arguments of ``fit``; ``moments_of.py`` takes moments without a
target. ``memory.py`` opens tables in memory, ``sources.py`` those of a source, ``files.py`` finds
files and ``csv.py`` and ``parquet.py`` read them.
"""
