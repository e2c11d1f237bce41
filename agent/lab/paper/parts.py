"""What is computed for the figures under each estimator, in two processes if wanted."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from types import MappingProxyType
from typing import TYPE_CHECKING

from agent.lab.paper.calibrated_order import calibrated_order
from agent.lab.paper.curve import curve_of
from agent.lab.paper.heuristics import heuristics
from agent.lab.paper.options import Options
from agent.lab.paper.running import running
from agent.lab.paper.sampling import utility_estimates
from agent.lab.paper.shape import utility_shape
from agent.lab.paper.subject import Subject, subject_of, with_chosen_prior
from agent.lab.paper.utility_order import utility_order
from agent.model.file import read
from agent.tradeoff.utility import Estimator

if TYPE_CHECKING:
    from pathlib import Path

ESTIMATORS: tuple[Estimator, ...] = ("plugin", "louo")  # the paper's first
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
Part = Callable[[Subject, Options], object]


def _orders(subject: Subject, _: Options) -> object:
    return utility_order(subject)


def _chosen_prior(subject: Subject, _: Options) -> object:
    return utility_order(with_chosen_prior(subject.model, "plugin"))


def _calibrated(subject: Subject, options: Options) -> object:
    return calibrated_order(subject, options.trade_off)


def _curve(subject: Subject, options: Options) -> object:
    return curve_of(subject, options.trade_off)


def _heuristics(subject: Subject, options: Options) -> object:
    return heuristics(subject, options.trade_off)


def _running(subject: Subject, options: Options) -> object:
    return running(subject, options.trade_off, options.seed, time.process_time)


def _shape(subject: Subject, options: Options) -> object:
    return utility_shape(subject, options.seed)


def _sampling(subject: Subject, options: Options) -> object:
    return utility_estimates(subject, options)


# What is computed under both estimators, and what the paper's alone has.
PARTS: Mapping[str, Part] = MappingProxyType(
    {
        "utility order": _orders,
        "calibrated order": _calibrated,
        "curve": _curve,
        "heuristics": _heuristics,
        "shape": _shape,
        "running": _running,
    }
)
PLUGIN_PARTS: Mapping[str, Part] = MappingProxyType(
    {"order, prior chosen": _chosen_prior, "sampling": _sampling}
)


Task = tuple[Estimator, str]


def parts(estimator: Estimator) -> Mapping[str, Part]:
    """Return what is computed under an estimator, by name."""
    return {**PARTS, **PLUGIN_PARTS} if estimator == "plugin" else PARTS


def computed(path: Path, options: Options, processes: int) -> Iterator[tuple[Task, object]]:
    """Yield every part as it comes; ``path``: of the model; ``processes``: 1 or 2."""
    yield from _alone(path, options) if processes == 1 else _shared(path, options)


def _alone(path: Path, options: Options) -> Iterator[tuple[Task, object]]:
    for estimator in ESTIMATORS:
        for part in parts(estimator):
            yield (estimator, part), _part(path, (estimator, part), options)


def _shared(path: Path, options: Options) -> Iterator[tuple[Task, object]]:
    """Yield what a process for each estimator computes, as it comes.

    New processes: whoever has threads cannot be forked. Each keeps its subject, so that what was
    computed for one figure serves the next.
    """
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    lanes = {
        each: ProcessPoolExecutor(1, get_context("spawn"), initializer=_begin)
        for each in ESTIMATORS
    }
    try:
        waiting = {
            lanes[estimator].submit(_part, path, (estimator, part), options): (estimator, part)
            for estimator in ESTIMATORS
            for part in parts(estimator)
        }
        for each in as_completed(waiting):
            yield waiting[each], each.result()
    finally:
        for lane in lanes.values():
            lane.shutdown(cancel_futures=True)


def _begin() -> None:
    """Let Ctrl-C end this process at once: the one that waits for it says so."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


_subjects: dict[tuple[Path, Estimator], Subject] = {}  # of this process: one


def _part(path: Path, task: Task, options: Options) -> object:
    estimator, part = task
    key = (path, estimator)
    if key not in _subjects:
        _subjects.clear()
        shrinkage = options.shrinkage if estimator == "plugin" else None
        _subjects[key] = subject_of(read(path), estimator, shrinkage)
    return parts(estimator)[part](_subjects[key], options)
