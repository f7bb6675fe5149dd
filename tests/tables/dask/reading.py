"""History in files, and how Dask and the rest of the library read it."""

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.feather as pf
import pyarrow.parquet as pq

from poolwise import Files
from poolwise.tables.encoding import Column
from poolwise.tables.file_table import open_files
from poolwise.tables.intake import gather
from poolwise.tables.response import Response
from poolwise.tables.row_splitter import RowSplitter
from poolwise.tables.streamed_rows import SumByPattern

WRITERS = {"csv": pc.write_csv, "parquet": pq.write_table, "feather": pf.write_feather}


def read(target, source, precision="exact"):
    y = pd.Series(target["a"] / 1e3 + target["new"], name="y")
    return gather(target, y, sources={"old": source}, precision=precision)


def write(folder, frame, form="parquet", files=5):
    """Write every so many rows to another file."""
    folder.mkdir(exist_ok=True)
    for k in range(files):
        table = pa.Table.from_pandas(frame.iloc[k::files], preserve_index=False)
        WRITERS[form](table, folder / f"{k:03}.{form}")
    return folder


def opened(paths, client=None):
    texts = {"a": False, "count": False, "site": True}
    return open_files(Files(paths, workers=client), "table 'old'", texts, "y")


SPLITTER = RowSplitter((Column("a"), Column("count")), Response("y"), None, "split")
SUMS = SumByPattern(SPLITTER, "exact", None, "table 'old'")
