"""Figure 5 of the paper: a head's attention, as it is and after each short-circuit."""

from textwrap import shorten

from cuescope_quag.options import QUAGOptions, parse_map
from cuescope_quag.trials import (
    Answers,
    AttentionWeights,
    TokenModalities,
    fusion_shape,
    questions,
    read,
)
from cuescope_sdk import Audit, Edit, Picture, UserError
from cuescope_sdk.fusion import OTHER, TEXT, VIDEO
from cuescope_sdk.report import heat_maps

NAMES = {OTHER: "other", VIDEO: "video", TEXT: "text"}
LONGEST = 90  # characters of the question


def require_map(audit: Audit, options: QUAGOptions) -> None:
    """Raises UserError for a map that this model cannot give."""
    if options.attention_map is None:
        return
    if "fusion" not in audit.capabilities.exposes:
        raise UserError(
            "quag: option 'attention_map'",
            expected="a model that shows its fusion layers",
            got="one that does not",
            remedy="Leave -O attention_map out.",
        )
    layer, head = parse_map(options.attention_map)
    shape = audit.once(fusion_shape, audit)
    # both are counted from 0
    if layer >= shape.layers or head >= shape.heads:
        raise UserError(
            "quag: option 'attention_map'",
            expected=f"a layer from 0 to {shape.layers - 1} and a head from 0 to {shape.heads - 1}",
            got=options.attention_map,
        )


def attach_maps(audit: Audit, options: QUAGOptions, answers: Answers) -> None:
    """The heat maps; nothing where none is asked for, a note where the first question is long."""
    if options.attention_map is None:
        return
    layer, head = parse_map(options.attention_map)
    sample = audit.once(questions, audit)[0]
    [sides] = read(audit, [TokenModalities(layer=layer).of(sample)])
    # the readout lists queries and then keys: two entries a token
    if len(sides) > 2 * options.longest:
        audit.note(
            "attention map",
            f"not drawn: more than {options.longest} tokens (-O longest)",
        )
        return
    edits: dict[str, Edit | None] = {"as it is": None}
    for condition in answers.conditions:
        if condition.kind == "short-circuit":
            edits[condition.key] = condition.edit
    readout = AttentionWeights(layer=layer)
    matrices = read(audit, (readout.of(sample, edit) for edit in edits.values()))
    weights = [of_heads[head] for of_heads in matrices]
    kinds = list(map(NAMES.__getitem__, sides.tolist()))
    # in cross-attention the keys are other tokens than the queries
    queries = len(weights[0])
    audit.attach(
        Picture(
            title=f"Attention of layer {layer}, head {head}",
            caption=f"Rows are the tokens that look, columns those that are looked at, without "
            f"padding. Shown is \N{LEFT DOUBLE QUOTATION MARK}"
            f"{shorten(str(sample.question), LONGEST, placeholder=' ...')}"
            "\N{RIGHT DOUBLE QUOTATION MARK}. A short-circuit is made in all changed layers, so "
            "after the first of them a map differs outside of the averaged quadrants too.",
            image=heat_maps(
                dict(zip(edits, weights, strict=True)),
                kinds[:queries],
                kinds[queries:],
                "attention weight",
            ),
        )
    )
