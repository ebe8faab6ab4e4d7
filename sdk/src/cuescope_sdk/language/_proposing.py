"""Cues that a language model proposes: what it is asked, and the names in its replies."""

import re
import unicodedata
from collections.abc import Mapping
from itertools import chain, islice

from cuescope_sdk.language._tables import read_toml, word_sets
from cuescope_sdk.language._yes_no import strip_thinking

_LISTS = word_sets("names")
IN_SENTENCES = _LISTS["said"]  # never in a name
PREPOSITIONS = _LISTS["leading"]  # a name does not begin with one
ALWAYS_PLURAL = _LISTS["plural"]
# of words in f; simplemma takes these for verbs
PLURALS_IN_VES = (
    "leaves",
    "shelves",
    "halves",
    "calves",
    "loaves",
    "thieves",
    "hooves",
)
PLURALS_WITHOUT_S = (
    "men",
    "children",
    "mice",
    "geese",
    "feet",
    "teeth",
    "oxen",
    "cacti",
    "fungi",
)


# ------------------------------------------------------------------------------------------ naming


# longer ones are phrases, for which detectors look in vain
MOST_WORDS = 4
MOST_LETTERS = 40
MOST_NAMES = 1000  # of a reply, which was asked for some dozen
_MARKUP = re.compile(r"[*_`~\"“”„«»<>{}|\\#\[\]]")
_ASIDE = re.compile(r"\([^)]*\)?")
_REMARK = re.compile(r"[:;]|\s[-–—]+(?:\s|$)|[.!?](?:\s|$)|[。！？]")  # noqa: RUF001
_ARTICLES = re.compile(r"^(?:(?:an?|the|some|any|other|various|several|many)\s+)+")
_EDGES = " \t,.!?:;'’‘-–—/&+=•·、。"  # noqa: RUF001


def clean_name(text: str) -> str | None:
    """The name in a piece of text, lower case; None where there is none, or a sentence.

    Markup, remarks after a dash, a colon or in parentheses, and articles are dropped.
    """
    # twice: lower case may come apart again, as of a dotted İ
    name = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())
    name = "".join(
        " " if unicodedata.category(letter)[0] == "C" else letter for letter in name
    )
    name = name.replace("’", "'")  # noqa: RUF001
    name = _MARKUP.sub(" ", name)
    name = _ASIDE.sub(" ", name).strip(_EDGES)
    name = _REMARK.split(name, maxsplit=1)[0]
    name = " ".join(name.split()).strip(_EDGES)
    name = _ARTICLES.sub("", name).strip(_EDGES)
    return name if _is_name(name) else None


def singular(name: str) -> str:
    """A cleaned name with its head, the last word before a preposition, in the singular.

    Only plurals are changed, by simplemma's English dictionary: a "painting" is no verb here.
    """
    words = name.split()
    end = 1
    while end < len(words) and words[end] not in PREPOSITIONS:
        end += 1
    words[end - 1] = _singular(words[end - 1])
    return " ".join(words)


def _is_name(name: str) -> bool:
    words = name.split()
    return (
        0 < len(words) <= MOST_WORDS
        and len(name) <= MOST_LETTERS
        and any(letter.isalpha() for letter in name)
        and (len(name) > 1 or not name.isascii())
        and words[0] not in PREPOSITIONS
        and IN_SENTENCES.isdisjoint(words)  # an apology or remark of the model, no name
    )


def _singular(word: str) -> str:
    # a verb form is no plural: "painting" must not become "paint"
    if word in ALWAYS_PLURAL or not word.endswith(("s", *PLURALS_WITHOUT_S)):
        return word
    if word.endswith(PLURALS_IN_VES):
        return word.removesuffix("ves") + "f"
    import simplemma  # an extra: the word lists take a moment to read

    lemma = simplemma.lemmatize(word, lang="en").lower()
    if (
        lemma != word
        or simplemma.is_known(word, lang="en")
        or word.endswith(("ss", "us", "is"))
    ):
        return lemma
    return word[:-1]


# ----------------------------------------------------------------------------------------- listing


_MARK = re.compile(
    r"(?:[-*+•·‣◦●○▪■–—・>]\s*|[(\[#]?\d{1,3}\s*[.):\]、|]+\s*|[a-z]\)\s+)+"
)
_INLINE = re.compile(r"\s+[(\[]?\d{1,2}[.)\]]\s+")
_IN_BRACKETS = re.compile(r"\([^)]*\)")
_AFTER_NAME = re.compile(r"[:：]|\s[-–—]\s")  # noqa: RUF001
_COMMA = re.compile(r"[,;/，、；،]|\s(?:and|or|&)\s", re.IGNORECASE)  # noqa: RUF001
_AND = re.compile(r"^\s*(?:and|or|&)\s+", re.IGNORECASE)
_MOST_OF_REPLY = 20_000  # letters; brackets that never close take longer and longer


def parse_list(reply: str) -> list[str]:
    """The names in a reply, cleaned, each once, in order; [] where it is prose or says nothing.

    Of more than `MOST_NAMES` the first: each is looked for, and paid for, by whoever asked.
    """
    lines = strip_thinking(reply)[:_MOST_OF_REPLY].splitlines()
    pieces = chain.from_iterable(map(_of_line, lines))
    names = dict.fromkeys(filter(None, map(clean_name, pieces)))
    return list(islice(names, MOST_NAMES))


def _of_line(line: str) -> list[str]:
    """The pieces of a line between commas; none of a heading, or where most are no names."""
    # bold names, and rows of a table; each gap is one space, for what looks for gaps
    bare = " ".join(line.replace("**", "").split()).strip("| ")
    if not bare or bare.endswith((":", "：")) or re.match(r"#+\s|```", bare):  # noqa: RUF001
        return []
    marked = _MARK.match(bare)
    if marked:
        bare = bare[marked.end() :]
    # each gap is one space again: what looks for gaps takes the square of a long one
    bare = " ".join(_IN_BRACKETS.sub(" ", bare).split())
    if not marked and ":" in bare:  # "Objects: cup, plate"
        bare = bare.rpartition(":")[2].strip()
        mark = _MARK.match(bare)
        bare = bare[mark.end() :] if mark else bare
    items = []
    for chunk in _INLINE.split(bare):
        before_remark = _AFTER_NAME.split(chunk, maxsplit=1)[0]
        for part in _COMMA.split(before_remark):
            item = _AND.sub("", part)
            if item.strip():
                items.append(item)
    names = list(filter(None, map(clean_name, items)))
    return items if 2 * len(names) > len(items) else []


# ------------------------------------------------------------------------------------------ asking


_PROMPTS = read_toml("proposing.toml")


def proposal_prompts(label: str, count: int) -> list[str]:
    """The four prompts for cues of a label, `count` names each."""
    # four angles, as in SpurLens: in its images, background, beside it, associated
    form = _PROMPTS["form"]
    return [
        f"{angle} {form}".format(label=label, count=count)
        for angle in _PROMPTS["angles"]
    ]


def prompt_for_more(label: str, told: Mapping[str, float], count: int) -> str:
    """The prompt for further cues of a label, by what became of those before.

    `told` has the strength of each, in standard deviations: the strongest stand first.
    """
    ordered = sorted(told, key=lambda name: -told[name])
    listed = ", ".join(f"{name} ({told[name]:+.1f})" for name in ordered)
    form: str = _PROMPTS["more"] + " " + _PROMPTS["form"]
    return form.format(label=label, count=count, told=listed)
