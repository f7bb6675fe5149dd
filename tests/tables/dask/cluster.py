"""Clusters on this machine, and waiting for what happens in them."""

import time
from contextlib import contextmanager


@contextmanager
def cluster_in(folder, **options):
    import distributed

    places = {"dashboard_address": ":0", "local_directory": str(folder)}  # any free port
    with (
        distributed.LocalCluster(threads_per_worker=1, **places, **options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def until(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
