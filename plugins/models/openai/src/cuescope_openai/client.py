"""Chat completions over HTTP: remembered, retried, paced, several at a time."""

import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event

import httpx
import tenacity

from cuescope_openai.answers import Answer, read_answer
from cuescope_openai.endpoint import Endpoint
from cuescope_openai.memory import Memory
from cuescope_openai.options import EndpointOptions
from cuescope_openai.requests import ChatRequest
from cuescope_openai.retries import (
    Budget,
    Pace,
    TransientError,
    error_of_status,
    seconds_to_wait,
    server_message,
)
from cuescope_sdk import Context, UserError, nearest


class Client:
    """Asks one model of one server. What was ever answered is taken from the memory in the cache.

    An answer is stored as soon as it has come. The first fault that does not pass stops the rest:
    what is under way is waited for and kept, nothing more is sent.
    """

    def __init__(self, options: EndpointOptions, endpoint: Endpoint, context: Context) -> None:
        self.endpoint = endpoint
        self.budget = Budget(options)
        self._options = options
        self._context = context
        self._memory = Memory(context.cache / "openai" / "answers.sqlite")
        self._pace = Pace(options.requests_per_minute)
        secret = endpoint.key.get_secret_value() if endpoint.key else None
        self._http = httpx.Client(
            base_url=f"{endpoint.url}/",
            headers={"Authorization": f"Bearer {secret}"} if secret else {},
            timeout=options.timeout,
            limits=httpx.Limits(max_connections=options.concurrency),
        )
        # Plugins are never closed by the engine; the pool goes with its owner.
        weakref.finalize(self, self._http.close)
        self._reached = False
        self._scores = True  # until a server refuses the fields that ask for log-probabilities

    @property
    def facts(self) -> dict[str, str]:
        """The server, and the builds of the model that have answered so far, as it names them."""
        builds = ", ".join(self._memory.builds(self.endpoint.url, self._options.model))
        return {"server": self.endpoint.url, **({"server's builds": builds} if builds else {})}

    def ask(self, requests: Sequence[ChatRequest]) -> list[Answer]:
        """An answer a request, in order; equal requests are sent once.

        Raises UserError where a budget is spent, or the server cannot be brought to answer.
        """
        keys = [request.key(self.endpoint.url) for request in requests]
        # One answer for equal requests, also where the server would vary.
        distinct = dict(zip(keys, requests, strict=True))
        answers = self._memory.get(distinct)
        if missing := {k: r for k, r in distinct.items() if k not in answers}:
            self._context.stop_plan_before(f"what {self._options.model} answers")
            answers |= self._fetch(missing)
        return [answers[key] for key in keys]

    def _fetch(self, missing: dict[str, ChatRequest]) -> dict[str, Answer]:
        stopped = Event()
        with ThreadPoolExecutor(self._options.concurrency) as pool:
            futures = {
                pool.submit(self._answer, key, request, stopped): key
                for key, request in missing.items()
            }
            try:
                return {futures[done]: done.result() for done in as_completed(futures)}
            except BaseException:
                # Threads cannot be cancelled: they see this before the next request or retry.
                stopped.set()
                raise

    def _answer(self, key: str, request: ChatRequest, stopped: Event) -> Answer:
        try:
            answer: Answer = self._retrying(stopped)(self._send, request, stopped)
        except TransientError as fault:
            raise UserError(
                f"openai: no answer from {self.endpoint.url} in {self._options.retries + 1} tries",
                got=str(fault),
                remedy="All answers so far are kept: run the same command to go on",
            ) from fault
        # Before it is counted: an answer that passes a budget is paid for, and kept.
        self._memory.put(key, self.endpoint.url, self._options.model, answer)
        self.budget.account(answer)
        return answer

    def _retrying(self, stopped: Event) -> tenacity.Retrying:
        def wait(state: tenacity.RetryCallState) -> float:
            fault = state.outcome.exception() if state.outcome else None
            return seconds_to_wait(state.attempt_number, self._options.backoff, fault)

        return tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(TransientError),
            stop=tenacity.stop_any(
                tenacity.stop_after_attempt(self._options.retries + 1),
                tenacity.stop_when_event_set(stopped),
            ),
            wait=wait,
            sleep=tenacity.sleep_using_event(stopped),
            reraise=True,
        )

    def _send(self, request: ChatRequest, stopped: Event) -> Answer:
        """One request; raises TransientError for a fault that may pass, else UserError."""
        self._pace.wait(stopped)
        if stopped.is_set():
            raise TransientError("stopped")
        self.budget.take()  # before it is sent: a request that fails may be paid for all the same
        scored = self._scores
        try:
            response = self._http.post("chat/completions", json=request.body(scored=scored))
        except httpx.RequestError as error:
            reason = f"{type(error).__name__} {error}".strip()
            if self._reached or not isinstance(error, httpx.ConnectError):
                raise TransientError(reason) from error
            # A server that has never been reached is a wrong address sooner than a passing fault.
            raise UserError(
                f"openai: no server at {self.endpoint.url}",
                got=reason,
                remedy="Start it, or check -M base_url and OPENAI_BASE_URL",
            ) from error
        self._reached = True
        # From here on nothing that is raised or stored can quote the key.
        body = self.endpoint.without_key(response.text)
        if response.is_success:
            try:
                return read_answer(body)
            except ValueError as fault:
                raise TransientError(
                    f"no chat completion ({fault}): {server_message(body)}"
                ) from fault
        # servers differ in how they say no to a field
        refused = response.status_code in (400, 403, 422)
        if scored and request.scoring and refused and "logprob" in body:
            # Such a server gives no log-probabilities: from now on nobody asks it for them.
            self._scores = False
            return self._send(request, stopped)
        if response.status_code == 404:
            raise self._not_found(body)
        raise error_of_status(self.endpoint, response.status_code, response.headers, body)

    def _not_found(self, body: str) -> UserError:
        """Either the model or the address is wrong; the list of models tells which."""
        url, model = self.endpoint.url, self._options.model
        try:
            entries = self._http.get("models").json()["data"]
            known = sorted(str(entry["id"]) for entry in entries)
        except (httpx.RequestError, ValueError, KeyError, TypeError):
            return UserError(
                f"openai: no chat completions at {url}",
                got=f"status 404: {server_message(body)}",
                remedy="Check -M base_url (most end in /v1), and that the server has the model",
            )
        if model in known:
            return UserError(f"openai: {url} does not find '{model}'", got=server_message(body))
        some = ", ".join(known[:10]) + (", ..." if len(known) > 10 else "")
        return UserError(
            f"openai: no model '{model}' at {url}",
            expected=some or "any",
            got=server_message(body),
            remedy=nearest(model, known),
        )
