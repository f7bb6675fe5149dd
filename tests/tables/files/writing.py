"""Tables written to files, and read as the history of a target."""

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.feather as pf
import pyarrow.parquet as pq

from poolwise.tables.intake import gather
from tests.tables.same import same


def write_csv(table, path):
    pc.write_csv(table, path)


def write_compressed(codec):
    def write(table, path):
        with pa.OSFile(str(path), "wb") as raw, pa.CompressedOutputStream(raw, codec) as out:
            pc.write_csv(table, out)

    return write


def write_tsv(table, path):
    pc.write_csv(table, path, pc.WriteOptions(delimiter="\t"))


WRITERS = {
    "csv": write_csv,
    "tsv": write_tsv,
    "csv.gz": write_compressed("gzip"),
    "csv.bz2": write_compressed("bz2"),
    "csv.zst": write_compressed("zstd"),
    "csv.lz4": write_compressed("lz4"),
    "parquet": pq.write_table,
    "pq": lambda table, path: pq.write_table(table, path, row_group_size=7),
    "feather": pf.write_feather,
    "arrow": lambda table, path: pf.write_feather(table, path, compression="uncompressed"),
}


def y_of(target):
    return pd.Series(target["a"] / 1e3 + target["new"], name="y")


def write(frame, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    suffix = path.name.partition(".")[2]
    WRITERS[suffix](pa.Table.from_pandas(frame, preserve_index=False), path)
    return path


def read(target, sources, precision="exact", **options):
    return gather(target, y_of(target), sources=sources, precision=precision, **options)


def agree(target, files, frame, **options):
    ours = read(target, files, **options).problem.sources
    held = {"source": frame} if isinstance(frame, pd.DataFrame) else frame
    return same(ours, read(target, held, **options).problem.sources)
