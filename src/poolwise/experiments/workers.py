"""Workers: independent tasks in processes of one thread each."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from typing import Any

from threadpoolctl import threadpool_limits

from poolwise.errors import BadOption, WorkerDied

LOOK = 0.5  # seconds between two looks at whether all processes live


def each(
    task: Callable[..., object], arguments: Sequence[tuple[Any, ...]], jobs: int
) -> Iterator[int]:
    """Run a task for each tuple of arguments; yield the place of each as it is done.

    Linear algebra has one thread everywhere, so that sums are added in the same order whatever
    the number of processes. The first error, or the death of a process, ends all of them.

    Parameters
    ----------
    task : callable
        A function of a module; what it returns is not looked at.
    arguments : sequence of tuples
        What it is called with.
    jobs : int
        How many processes; with one, everything happens in this one.
    """
    if jobs < 1:
        raise BadOption("jobs", jobs, "a positive number")
    if jobs == 1 or len(arguments) < 2:
        for k, given in enumerate(arguments):
            with threadpool_limits(1):
                task(*given)
            yield k
        return
    # A fresh interpreter each: a copy of this process could copy a lock that a thread holds.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(arguments)), context, _begin) as pool:
        others = multiprocessing.active_children()
        with _interrupts_ignored():
            places = {pool.submit(task, *given): k for k, given in enumerate(arguments)}
        # With this context submit alone starts processes, so these are all there will be.
        workers = [child for child in multiprocessing.active_children() if child not in others]
        try:
            for done in _as_done(places, workers):
                done.result()
                yield places[done]
        except BaseException as error:  # of a task, a death, Ctrl-C, or nobody wants the rest
            for worker in workers:  # what they were at is not waited for
                worker.terminate()
            if isinstance(error, BrokenProcessPool):
                raise WorkerDied(len(workers)) from error
            raise
        finally:
            # And waited for: a pool that closes its pipes while Python exits prints a traceback.
            pool.shutdown(wait=True, cancel_futures=True)


def _as_done(
    futures: Iterable[Future[object]], workers: Sequence[BaseProcess]
) -> Iterator[Future[object]]:
    """Yield futures as they are done; a process that ends before the last one is an error.

    The pool sees that too, but may have to wait for another process to return first.
    """
    pending = set(futures)
    while pending:
        done, pending = wait(pending, LOOK, FIRST_COMPLETED)
        yield from done
        if pending and any(worker.exitcode is not None for worker in workers):
            raise WorkerDied(len(workers))


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Start processes that ignore Ctrl-C from their first moment: their parent ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may change what happens on a signal
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _begin() -> None:
    """Make a process a worker: one thread, deaf to Ctrl-C, gone when its parent is."""
    import numpy as np  # noqa: F401  limits hold for libraries that are loaded already
    import scipy.linalg  # noqa: F401

    threadpool_limits(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
