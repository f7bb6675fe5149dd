"""Which module of this package reads which kind of table, by the package of its type."""

ENGINES = {"pandas": "frames", "polars": "frames", "pyarrow": "frames"}  # tables in memory
FRAMES_ELSEWHERE = {  # frames whose rows are not in this process: package and name of their type
    ("dask.dataframe", "DataFrame"): "dask",
    ("pyspark.sql", "DataFrame"): "spark",
    ("pyarrow._dataset", "Dataset"): "arrow_streams",
}
CLUSTERS = {"distributed": "dask", "pyspark": "spark"}  # clients of clusters that read files
