"""Logs of what a model has answered: what a reader of a format gives, and how it reads safely.

A reader is a plugin in the group `cuescope.logs`. It says by `fits` whether a file is of its format
and by `read` what stands in it; `--model log:FILE` and `--data log:FILE` do the rest.
"""

from typing import TYPE_CHECKING

from cuescope_core.lazy import attach

if TYPE_CHECKING:
    from cuescope_core.trust.child import in_child as in_child
    from cuescope_sdk.logs._archives import Archive as Archive
    from cuescope_sdk.logs._choices import Choices as Choices
    from cuescope_sdk.logs._examining import examine as examine
    from cuescope_sdk.logs._files import (
        LogFile as LogFile,
        field_at as field_at,
        parse_json as parse_json,
    )
    from cuescope_sdk.logs._judging import figures_of as figures_of, judge as judge
    from cuescope_sdk.logs._manifest import Manifest as Manifest, Row as Row
    from cuescope_sdk.logs._option_lists import (
        OPTION_COLUMNS as OPTION_COLUMNS,
        letters_before as letters_before,
        list_of_texts as list_of_texts,
        listed_choices as listed_choices,
        option_letter as option_letter,
        options_in_columns as options_in_columns,
        plain_text as plain_text,
        split_options as split_options,
        without_letters as without_letters,
    )
    from cuescope_sdk.logs._records import (
        Judgement as Judgement,
        Log as Log,
        LogReader as LogReader,
        Record as Record,
    )
    from cuescope_sdk.logs._scores import score_of as score_of

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "cuescope_core.trust.child": ["in_child"],
        "._archives": ["Archive"],
        "._choices": ["Choices"],
        "._examining": ["examine"],
        "._files": ["LogFile", "field_at", "parse_json"],
        "._judging": ["figures_of", "judge"],
        "._manifest": ["Manifest", "Row"],
        "._option_lists": [
            "OPTION_COLUMNS",
            "letters_before",
            "list_of_texts",
            "listed_choices",
            "option_letter",
            "options_in_columns",
            "plain_text",
            "split_options",
            "without_letters",
        ],
        "._records": ["Judgement", "Log", "LogReader", "Record"],
        "._scores": ["score_of"],
    },
)
