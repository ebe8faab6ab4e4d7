"""Chat completions over HTTP: remembered, retried, paced, several at a time."""

import asyncio
import math
import ssl
import time
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeVar

import httpx
import tenacity

from cuescope_openai.answers import Answer, read_answer
from cuescope_openai.bodies import ENCODINGS, MAX_ERROR, read_body
from cuescope_openai.budget import Budget
from cuescope_openai.endpoint import Endpoint
from cuescope_openai.memory import Claims, Memory
from cuescope_openai.options import EndpointOptions
from cuescope_openai.requests import ChatRequest
from cuescope_openai.retries import (
    TransientError,
    error_of_status,
    seconds_to_wait,
    server_message,
    shorten,
)
from cuescope_sdk import Context, UserError

T = TypeVar("T")
SILENCE = 5.0  # s; longer waits are announced, and no more often than this
MOST_BUILDS = 10  # that are named
CLAIM_PAUSE = 0.1  # s, between looks for an answer that another command waits for
ENCODERS = 2  # requests whose frames are encoded together, each up to hundreds of MiB
MAX_ANSWER = 8 * 2**20  # bytes: 5,000 tokens with 20 log-probabilities each
RETRY_SECONDS = 900.0  # no request is sent again later than this after its first try


@dataclass
class Flight:
    """Requests under way together: their connections, and whether no more are to be sent."""

    http: httpx.AsyncClient
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    encoders: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(ENCODERS)
    )

    async def pause(self, seconds: float) -> None:
        """Return after so many seconds, or as soon as nothing more is to be sent."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stopped.wait(), seconds)

    async def wait(self, seconds: float) -> None:
        """Pause; raises TransientError where nothing more is to be sent."""
        await self.pause(seconds)
        if self.stopped.is_set():
            raise TransientError("stopped")


def in_turn(requests: Mapping[str, ChatRequest]) -> dict[str, ChatRequest]:
    """Those that begin alike one after the other, while a server still holds what it has read.

    They begin with the frames, or with the text where frames come last.
    """
    begun: dict[Any, dict[str, ChatRequest]] = {}
    for key, request in requests.items():
        frames = tuple(frame.key for frame in request.frames)
        start = request.text if request.frames_last else frames
        begun.setdefault(start, {})[key] = request
    return {key: request for group in begun.values() for key, request in group.items()}


class Client:
    """Asks one model of one server. What was ever answered is taken from the memory in the cache.

    An answer is stored as soon as it has come. The first fault that does not pass stops the rest:
    what is under way is waited for and kept, nothing more is sent. Ctrl-C waits for nothing.
    """

    def __init__(
        self,
        options: EndpointOptions,
        endpoint: Endpoint,
        context: Context,
    ) -> None:
        self.endpoint = endpoint
        self.budget = Budget(options, endpoint.url, context)
        self._options = options
        self._context = context
        self._memory = Memory(context.cache / "openai" / "answers.sqlite")
        self._claims = Claims(context.cache / "openai" / "claims.sqlite")
        # as long as it may be asked for again and again
        self._claim_seconds = options.timeout + RETRY_SECONDS
        self._announced = -SILENCE
        self._key_announced = endpoint.key is None
        self._reached = False
        # until a server refuses the fields that ask for log-probabilities
        self._scores = True

    @property
    def facts(self) -> dict[str, str]:
        """The server, and the builds of the model that have answered so far, as it names them."""
        builds = self._memory.builds(self.endpoint.url, self._options.model)
        facts = {"server": self.endpoint.url}
        if builds:
            named = ", ".join(builds[:MOST_BUILDS])
            others = len(builds) - MOST_BUILDS
            facts["server's builds"] = (
                f"{named} and {others} more" if others > 0 else named
            )
        return facts

    def ask(self, requests: Sequence[ChatRequest]) -> list[Answer]:
        """An answer a request, in order; equal requests are sent once.

        Raises UserError where a budget is spent, or the server cannot be brought to answer.
        """
        keys = [request.key(self.endpoint.url) for request in requests]
        # One answer for equal requests, also where the server would vary.
        distinct = dict(zip(keys, requests, strict=True))
        distinct = in_turn(distinct)
        answers = self._memory.get(distinct)
        missing = {
            key: request for key, request in distinct.items() if key not in answers
        }
        if missing:
            self._context.stop_plan_before(f"what {self._options.model} answers")
            if not self._key_announced:
                self._context.announce(
                    f"{self.endpoint.key_env} goes to {self.endpoint.origin}"
                )
                self._key_announced = True
            answers |= run_apart(self._fetch(missing))
        return [answers[key] for key in keys]

    async def _fetch(self, missing: dict[str, ChatRequest]) -> dict[str, Answer]:
        answers: dict[str, Answer] = {}
        faults: list[Exception] = []
        remaining = iter(missing.items())

        async def work(flight: Flight) -> None:
            for key, request in remaining:
                if flight.stopped.is_set():
                    return
                try:
                    answers[key] = await self._answer(flight, key, request)
                except Exception as fault:
                    faults.append(fault)
                    flight.stopped.set()

        async with self._open_http() as http:
            flight = Flight(http)
            workers = min(self._options.concurrency, len(missing))
            await asyncio.gather(*(work(flight) for _ in range(workers)))
        if faults:
            raise faults[0]  # the others came of it, or after it
        return answers

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return httpx.create_ssl_context()  # takes longer than a request on this machine

    def _open_http(self) -> httpx.AsyncClient:
        headers = {"Accept-Encoding": ENCODINGS}
        if self.endpoint.key:
            headers["Authorization"] = f"Bearer {self.endpoint.key.get_secret_value()}"
        return httpx.AsyncClient(
            base_url=f"{self.endpoint.url}/",
            headers=headers,
            verify=self._tls,
            timeout=None,  # each request has a deadline as a whole
            follow_redirects=False,  # the key is for one host
            trust_env=not self.endpoint.is_local,  # no proxy stands before this machine
            limits=httpx.Limits(max_connections=self._options.concurrency),
        )

    async def _answer(self, flight: Flight, key: str, request: ChatRequest) -> Answer:
        """The answer of the server, or of another command that asks it the same now."""
        began = time.monotonic()
        while not await asyncio.to_thread(self._claims.take, key, self._claim_seconds):
            if known := await asyncio.to_thread(self._memory.get, [key]):
                return known[key]
            await flight.wait(CLAIM_PAUSE)
            if time.monotonic() - began > SILENCE:
                began = math.inf
                self._context.announce(
                    "openai: waiting for an answer that another command has asked for"
                )
        try:
            # it may have come between the look into the memory and the claim
            if known := await asyncio.to_thread(self._memory.get, [key]):
                return known[key]
            return await self._pay(flight, key, request)
        finally:
            self._claims.release(key)

    async def _pay(self, flight: Flight, key: str, request: ChatRequest) -> Answer:
        try:
            answer: Answer = await self._retries(flight)(
                self._ask_once, flight, request
            )
        except tenacity.RetryError as error:
            tries = error.last_attempt.attempt_number
            fault = error.last_attempt.exception()
            times = "1 try" if tries == 1 else f"{tries} tries"
            raise UserError(
                f"openai: no answer from {self.endpoint.url} in {times}",
                got=f"{fault}",
                remedy="All answers so far are kept: run the same command to go on",
            ) from fault
        url = self.endpoint.url
        put = partial(self._memory.put, key, url, self._options.model, answer)
        # Shielded: Ctrl-C would take it out of the queue for a thread, and the answer that came
        # would be asked for again.
        loop = asyncio.get_running_loop()
        await asyncio.shield(loop.run_in_executor(None, put))
        return answer

    def _retries(self, flight: Flight) -> tenacity.AsyncRetrying:
        def wait(state: tenacity.RetryCallState) -> float:
            fault = state.outcome.exception() if state.outcome else None
            return seconds_to_wait(state.attempt_number, self._options.backoff, fault)

        async def sleep(seconds: float) -> None:
            await flight.pause(seconds)

        limits = tenacity.stop_any(
            tenacity.stop_after_attempt(self._options.retries + 1),
            # before: a wait that would pass the limit is not begun
            tenacity.stop_before_delay(RETRY_SECONDS),
        )
        return tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(TransientError),
            stop=lambda state: flight.stopped.is_set() or limits(state),
            wait=wait,
            sleep=sleep,
            before_sleep=self._announce_wait,
        )

    def _announce_wait(self, state: tenacity.RetryCallState) -> None:
        wait = state.upcoming_sleep
        silence = wait + (state.seconds_since_start or 0.0)
        now = time.monotonic()
        if silence > SILENCE and now - self._announced > SILENCE:
            self._announced = now
            fault = state.outcome.exception() if state.outcome else None
            self._context.announce(
                f"openai: no answer from {self.endpoint.origin} ({fault}); "
                f"retry {state.attempt_number} of {self._options.retries} in {wait:.0f} s"
            )

    async def _ask_once(self, flight: Flight, request: ChatRequest) -> Answer:
        scored = self._scores
        async with flight.encoders:
            content = await asyncio.to_thread(request.content, scored=scored)
        return await self._send(flight, request, content, scored=scored)

    async def _send(
        self, flight: Flight, request: ChatRequest, content: bytes, *, scored: bool
    ) -> Answer:
        """One request; raises TransientError for a fault that may pass, else UserError."""
        # another request may have failed while this one waited for its turn
        if flight.stopped.is_set():
            raise TransientError("stopped")
        # before it is sent: a request that fails may be paid for all the same
        await asyncio.to_thread(self.budget.take)
        response, body = await self._exchange(
            flight.http, "POST", "chat/completions", content
        )
        self._reached = True
        if response.is_success:
            return self._read(body)
        # servers differ in how they say no to a field
        refused = response.status_code in (400, 403, 422)
        if scored and request.scoring and refused and "logprob" in body:
            # Such a server gives no log-probabilities: from now on nobody asks it for them.
            self._scores = False
            content = await asyncio.to_thread(request.content, scored=False)
            return await self._send(flight, request, content, scored=False)
        raise error_of_status(
            self.endpoint, response.status_code, response.headers, body
        )

    def _read(self, body: str) -> Answer:
        try:
            return read_answer(body, self.endpoint.without_key)
        except ValueError as fault:
            reason = (
                f"no chat completion ({shorten(str(fault))}): {self._message(body)}"
            )
            raise TransientError(reason) from fault

    async def _exchange(
        self,
        http: httpx.AsyncClient,
        method: str,
        path: str,
        content: bytes | None = None,
    ) -> tuple[httpx.Response, str]:
        """Response and body, of an error the beginning; what may quote the key does not leave."""
        headers = {"Content-Type": "application/json"} if content else {}
        try:
            async with (
                asyncio.timeout(self._options.timeout),
                http.stream(method, path, content=content, headers=headers) as response,
            ):
                most = MAX_ANSWER if response.is_success else MAX_ERROR
                body = await read_body(response, most)
        except TimeoutError as error:
            wait = f"{self._options.timeout:g} s"
            raise TransientError(
                f"no whole answer within {wait} (-O model.timeout)"
            ) from error
        except httpx.RequestError as error:
            said = self.endpoint.without_key(str(error))  # it may quote the server
            reason = shorten(f"{type(error).__name__} {said}")
            if self._reached or not isinstance(error, httpx.ConnectError):
                raise TransientError(reason) from error
            # A server that has never been reached is a wrong address sooner than a passing fault.
            raise UserError(
                f"openai: no server at {self.endpoint.url}",
                got=reason,
                remedy="Start it, or check -O model.base_url and OPENAI_BASE_URL",
            ) from error
        if response.is_success and len(body) > most:
            raise UserError(
                f"openai: {self.endpoint.url} answers with too much",
                expected=f"at most {MAX_ANSWER // 2**20} MiB",
                remedy="Check -O model.base_url. A smaller max_tokens or top_logprobs "
                "makes less of it",
            )
        return response, self.endpoint.without_key(body.decode(errors="replace"))

    def _message(self, body: str) -> str:
        return server_message(body, self.endpoint.without_key)


def run_apart(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, run in a thread of its own: a notebook has a loop in the main one.

    Ctrl-C cancels it at once.
    """
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)

    def run() -> T:
        try:
            return loop.run_until_complete(task)
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            # answers that have come may still be on their way into the memory
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    with ThreadPoolExecutor(1, "openai") as thread:
        try:
            return thread.submit(run).result()
        except BaseException:
            with suppress(RuntimeError):  # it has ended by itself
                loop.call_soon_threadsafe(task.cancel)
            raise
