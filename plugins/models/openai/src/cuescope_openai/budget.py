"""What requests may cost: taken from the ledger of the command before each is sent."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from cuescope_openai.answers import Answer
from cuescope_openai.options import EndpointOptions
from cuescope_openai.requests import ChatRequest
from cuescope_sdk import Context, Ledger, UserError, digest
from cuescope_sdk.report import count_of

Amounts = Mapping[str, float]  # by unit
MILLION = 1_000_000
# a chat's own marks take 3 to 7 tokens a message (OpenAI's cookbook, how to count tokens)
MARKS = 32
# the dearest prompt so far may be followed by a dearer one
GROWTH = 2
PAUSE = 0.05  # s, until what others have under way may have come


@dataclass(frozen=True)
class Taken:
    """The tokens that a request may take at most."""

    input: float = 0.0
    output: float = 0.0


class Budget:
    """What is spent against the options' caps, over all audits and processes of the command.

    A call is counted before it is sent, with the tokens that it may take: those of its text by its
    letters, which no token is shorter than, those of its pictures by the dearest prompt so far, and
    `max_tokens` of the answer. What it did not take is given back as it is answered.
    """

    def __init__(self, options: EndpointOptions, url: str, context: Context) -> None:
        self._options = options
        caps = (options.max_calls, options.max_tokens_total, options.max_cost)
        self._is_capped = any(cap is not None for cap in caps)
        self._counts_tokens = caps[1:] != (None, None)
        self._under_way = 0
        # a tool's cap is about its own calls
        account = digest(url, options.model, type(options).__name__)
        self._ledger = Ledger(context.cache, context.command, account)
        if self._is_capped and not context.command.is_here:
            raise UserError(
                "openai: a budget in workers of other computers",
                expected="one computer, where they can count together",
                remedy="Take --executor processes, or set the budget at the vendor",
            )

    async def take(
        self, request: ChatRequest, pause: Callable[[float], Awaitable[None]]
    ) -> Taken:
        """Count a call that is about to be sent; raises UserError where it could pass a cap.

        What is under way may turn out cheaper, and is waited for before that.
        """
        if not self._is_capped:
            return Taken()
        began = time.monotonic()
        while True:
            may_wait = time.monotonic() - began < self._options.timeout
            taken, spent = self._try(request, first_alone=may_wait)
            if taken is not None:
                self._under_way += 1
                return taken
            # what others have under way may be left of a process that was killed
            waits = self._under_way or "dearest" not in spent
            is_over = self._passed(_sum(spent, calls=1)) is not None
            if is_over or not (may_wait and waits and spent.get("under way")):
                raise self._spent(request, spent)
            await pause(PAUSE)

    def _try(
        self, request: ChatRequest, *, first_alone: bool
    ) -> tuple[Taken | None, Amounts]:
        """What was taken, None where it could pass a cap, and what is spent then.

        With `first_alone` nothing is taken beside a first call: it tells what a prompt takes.
        """
        taken: list[Taken] = []

        def take(spent: Amounts) -> Amounts | None:
            is_first = "dearest" not in spent
            if (
                self._counts_tokens
                and first_alone
                and is_first
                and spent.get("under way")
            ):
                return None
            most = self._most(request, spent)
            together = _sum(spent, calls=1, input=most.input, output=most.output)
            if self._passed(together) is not None:
                return None
            taken.append(most)
            return _sum(together, **{"under way": 1})

        spent = self._ledger.change(take)
        return (taken[0] if taken else None), spent

    def settle(self, taken: Taken, answer: Answer | None, *, is_free: bool) -> None:
        """Give back what a call did not take; all of it where it `is_free`, as a refusal is."""
        if not self._is_capped:
            return
        self._under_way -= 1
        used = Taken() if is_free else taken
        if answer is not None and answer.prompt_tokens is not None:
            used = Taken(answer.prompt_tokens, answer.completion_tokens or 0)

        def settle(spent: Amounts) -> Amounts:
            back = {
                "input": used.input - taken.input,
                "output": used.output - taken.output,
                "under way": -1,
            }
            after = _sum(spent, **back)
            if answer is not None:
                after["dearest"] = max(spent.get("dearest", 0.0), used.input)
                after["longest"] = max(spent.get("longest", 0.0), used.output)
            return after

        self._ledger.change(settle)

    def require_usage(self, answer: Answer) -> None:
        """Raise UserError where a cap needs the tokens of an answer and the server tells none."""
        if answer.prompt_tokens is None and self._counts_tokens:
            raise UserError(
                "openai: the server does not say how many tokens it took",
                remedy="Set the budget by max_calls",
            )

    def _most(self, request: ChatRequest, spent: Amounts) -> Taken:
        """The tokens that a request may take."""
        text = len(f"{request.system}{request.text}".encode()) + MARKS
        prompt = max(text, GROWTH * spent.get("dearest", 0.0))
        longest = self._options.max_tokens or GROWTH * spent.get("longest", 0.0)
        return Taken(prompt, longest)

    def _passed(self, spent: Amounts) -> tuple[str, float] | None:
        """Name and value of the first cap that is passed."""
        options = self._options
        tokens = spent.get("input", 0.0) + spent.get("output", 0.0)
        for name, cap, amount in (
            ("max_calls", options.max_calls, spent.get("calls", 0.0)),
            ("max_tokens_total", options.max_tokens_total, tokens),
            ("max_cost", options.max_cost, self._cost(spent)),
        ):
            if cap is not None and amount > cap:
                return name, cap
        return None

    def _cost(self, spent: Amounts) -> float:
        input_price = self._options.price_input or 0.0
        output_price = self._options.price_output or 0.0
        cost = spent.get("input", 0.0) * input_price
        return (cost + spent.get("output", 0.0) * output_price) / MILLION

    def _spent(self, request: ChatRequest, spent: Amounts) -> UserError:
        asked = self._most(request, spent)
        together = _sum(spent, calls=1, input=asked.input, output=asked.output)
        name, cap = self._passed(together) or ("", 0.0)
        tokens = int(spent.get("input", 0.0) + spent.get("output", 0.0))
        calls = count_of(int(spent.get("calls", 0)), "calls")
        return UserError(
            f"openai: the budget {name}={cap:g} is spent",
            got=f"{calls}, {tokens} tokens"
            + ("" if name == "max_calls" else "; the next call could pass it"),
            remedy="All answers so far are kept and cost nothing again: run the same "
            f"command to go on with the same budget, or raise {name}",
        )


def _sum(amounts: Amounts, **more: float) -> dict[str, float]:
    """The amounts with more of some units."""
    return dict(amounts) | {
        unit: amounts.get(unit, 0.0) + amount for unit, amount in more.items()
    }
