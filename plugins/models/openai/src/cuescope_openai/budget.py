"""How many requests a command may send: each is taken from its ledger before it is sent."""

from collections.abc import Mapping

from cuescope_openai.options import EndpointOptions
from cuescope_sdk import Context, Ledger, UserError, digest
from cuescope_sdk.report import count_of


class Budget:
    """The calls of all audits and processes of a command, against the option `max_calls`."""

    def __init__(self, options: EndpointOptions, url: str, context: Context) -> None:
        self._most = options.max_calls
        # a tool's cap is about its own calls
        account = digest(url, options.model, type(options).__name__)
        self._ledger = Ledger(context.cache, context.command, account)
        if self._most is not None and not context.command.is_here:
            raise UserError(
                "openai: a budget in workers of other computers",
                expected="one computer, where they can count together",
                remedy="Take --executor processes, or set the budget at the vendor",
            )

    def take(self) -> None:
        """Count a call before it is sent; raises UserError where it would be one too many."""
        if self._most is None:
            return
        most = self._most
        taken: list[float] = []

        def take(spent: Mapping[str, float]) -> Mapping[str, float] | None:
            calls = spent.get("calls", 0.0)
            if calls >= most:
                return None
            taken.append(calls)
            return {"calls": calls + 1}

        spent = self._ledger.change(take)
        if not taken:
            raise UserError(
                f"openai: the budget max_calls={most} is spent",
                got=count_of(int(spent["calls"]), "calls"),
                remedy="All answers so far are kept and cost nothing again: run the same "
                "command to go on with the same budget, or raise max_calls",
            )
