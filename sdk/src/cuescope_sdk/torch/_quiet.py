"""transformers without its log lines, warnings and progress bars."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from logging import ERROR

import torch


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing is said within, and the caller's random generator is where it was after it."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(ERROR)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
