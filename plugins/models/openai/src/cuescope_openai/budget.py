"""How fast requests may go out, and how much they may cost."""

import time
from threading import Event, Lock

from cuescope_openai.answer import Answer
from cuescope_openai.endpoint import EndpointOptions
from cuescope_sdk import UserError

MILLION = 1_000_000


class Pace:
    """Requests spaced evenly, at most `per_minute`; None sends them as they come."""

    def __init__(self, per_minute: float | None) -> None:
        self._gap = 60 / per_minute if per_minute else 0.0
        self._next = 0.0
        self._lock = Lock()

    def wait(self, stopped: Event) -> None:
        """Return when it is this request's turn, or as soon as `stopped` is set."""
        with self._lock:
            turn = max(time.monotonic(), self._next)
            self._next = turn + self._gap
        stopped.wait(max(0.0, turn - time.monotonic()))


class Budget:
    """Counts what is spent against the options' caps.

    Calls are counted before they are sent, so that their cap is exact. Tokens and money are known
    only afterwards: the requests under way when a cap is reached are still answered and kept.
    """

    def __init__(self, options: EndpointOptions) -> None:
        self._options = options
        self._lock = Lock()
        self.calls = self.input_tokens = self.output_tokens = 0

    @property
    def cost(self) -> float:
        """Money spent, by the prices given."""
        prices = (self._options.price_input or 0.0, self._options.price_output or 0.0)
        return (self.input_tokens * prices[0] + self.output_tokens * prices[1]) / MILLION

    def take(self) -> None:
        """Count a call that is about to be sent; raises UserError where a cap is reached."""
        with self._lock:
            options = self._options
            tokens = self.input_tokens + self.output_tokens
            for name, cap, spent in (
                ("max_calls", options.max_calls, self.calls),
                ("max_tokens_total", options.max_tokens_total, tokens),
                ("max_cost", options.max_cost, self.cost),
            ):
                if cap is not None and spent >= cap:
                    raise UserError(
                        f"openai: the budget {name}={cap:g} is spent",
                        got=f"{self.calls} calls, {tokens} tokens",
                        remedy="All answers so far are kept and cost nothing again: run the same "
                        f"command to go on with the same budget, or raise {name}",
                    )
            self.calls += 1

    def account(self, answer: Answer) -> None:
        """Count the tokens of an answer; raises UserError where a cap needs what is not told."""
        if answer.prompt_tokens is None:
            if self._options.max_tokens_total or self._options.max_cost:
                raise UserError(
                    "openai: the server does not tell how many tokens it took",
                    remedy="Set the budget by max_calls",
                )
            return
        with self._lock:
            self.input_tokens += answer.prompt_tokens
            self.output_tokens += answer.completion_tokens or 0
