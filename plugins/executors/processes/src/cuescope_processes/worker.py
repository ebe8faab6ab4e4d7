"""The other end: what a process does until its driver is gone."""

import os
from multiprocessing import current_process
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread

from cuescope_sdk.workers import Answering

END = b""  # in place of a batch: nothing follows


def work(connection: "Connection[bytes, bytes]") -> None:
    """Open the model with the first message, answer the batches that follow."""
    current_process().daemon = False  # a model may start processes of its own
    os.dup2(2, 1)  # what a model prints must not land in the middle of `--json`
    inbox: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_receive, args=(connection, inbox), daemon=True).start()
    answering = Answering()
    reply = answering.open(inbox.get())
    while True:
        connection.send_bytes(reply)
        if (batch := inbox.get()) == END:
            return
        reply = answering.answer(batch)


def _receive(connection: "Connection[bytes, bytes]", inbox: "SimpleQueue[bytes]") -> None:
    """Take what is sent at once, so that the driver never waits; end with the driver."""
    while True:
        try:
            inbox.put(connection.recv_bytes())
        except (EOFError, OSError):
            os._exit(1)
