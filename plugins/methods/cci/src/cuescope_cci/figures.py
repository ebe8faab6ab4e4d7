"""Images beside their clusters, importance and mask."""

from collections.abc import Sequence

import numpy as np

from cuescope_cci.error_source import AnswerSource
from cuescope_sdk import Audit, Picture
from cuescope_sdk.report import PanelRow, image_panels


def attach_examples(audit: Audit, sources: Sequence[AnswerSource], most: int) -> None:
    """Pictures of background errors, fine-grained errors and right answers."""
    wrong = [source for source in sources if source.wrong]
    background = sorted(
        (source for source in wrong if source.region == "background"),
        key=lambda source: (-source.background_share, source.key),
    )
    fine_grained = [source for source in wrong if source.fine_grained]
    kinds = {
        "Wrong answers that came from the background": background,
        "Wrong answers that looked at an object and named its look-alike": fine_grained,
        "Other wrong answers": [
            source for source in wrong if source.region != "background" and not source.fine_grained
        ],
        "Right answers": [source for source in sources if source.correct],
        "Images without a label": [source for source in sources if source.label is None],
    }
    for title, group in kinds.items():
        if examples := group[:most]:
            panel_rows = [
                PanelRow(
                    caption=caption(source),
                    image=np.asarray(source.sample.frames[0].load()),
                    clusters=source.cluster,
                    heat=source.importance,
                    mask=source.foreground,
                )
                for source in examples
            ]
            captions = "; ".join(caption(source) for source in examples)
            audit.attach(
                Picture(title=title, caption=f"{captions}.", image=image_panels(panel_rows))
            )


def caption(source: AnswerSource) -> str:
    """What happened to an image, in a few words."""
    looks = {"foreground": ", looks at an object", "background": ", looks at the background"}
    where = looks.get(source.region or "", "")
    if source.label is None:
        return f"taken for '{source.prediction}'{where}"
    if source.correct:
        return f"'{source.label}', right{where}"
    return f"'{source.label}' taken for '{source.prediction}'{where}"
