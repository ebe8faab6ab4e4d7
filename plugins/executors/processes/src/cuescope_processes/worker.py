"""The other end: what a process does until its driver is gone."""

import os
from multiprocessing import current_process
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Semaphore, Thread

from cuescope_sdk.workers import Answering

END = b""  # in place of a batch: nothing follows
TAKEN = b"taken"
# the last answer is stored (see `Pool.kept`); no pickled batch is so short
KEPT = b"kept"


def work(connection: "Connection[bytes, bytes]") -> None:
    """Open the model with the first message, answer the batches that follow."""
    current_process().daemon = False  # a model may start processes of its own
    os.dup2(2, 1)  # what a model prints must not land in the middle of `--json`
    inbox: SimpleQueue[bytes] = SimpleQueue()
    may_begin = Semaphore(1)
    answering = Answering()
    Thread(
        target=_receive,
        args=(connection, inbox, answering, may_begin),
        daemon=True,
    ).start()
    reply = answering.open(inbox.get())
    while True:
        connection.send_bytes(reply)
        if inbox.get() == END:
            return
        may_begin.acquire()
        reply = answering.answer()


def _receive(
    connection: "Connection[bytes, bytes]",
    inbox: "SimpleQueue[bytes]",
    answering: Answering,
    may_begin: Semaphore,
) -> None:
    """Take what is sent at once, so that the driver never waits; end with the driver."""
    opened = False
    while True:
        try:
            message = connection.recv_bytes()
        except (EOFError, OSError):
            os._exit(1)
        if message == KEPT:
            may_begin.release()
        else:
            if opened and message != END:
                answering.take(message)
                message = TAKEN
            inbox.put(message)
            opened = True  # the first message is what it is opened with
