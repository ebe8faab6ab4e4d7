"""Shared parts of data sets: media files as frames, official layouts, question files."""

from typing import TYPE_CHECKING

from cuescope_core.lazy import attach

if TYPE_CHECKING:
    from cuescope_core.atomic_files import Draft as Draft
    from cuescope_core.pixels import to_rgb as to_rgb
    from cuescope_core.plain_yaml import load_yaml as load_yaml
    from cuescope_sdk.data._card import (
        check_choices as check_choices,
        check_groups as check_groups,
        contact_sheet as contact_sheet,
        describe_data as describe_data,
    )
    from cuescope_sdk.data._conditions import picture_quality as picture_quality
    from cuescope_sdk.data._covar import (
        CovarManifest as CovarManifest,
        CovarRow as CovarRow,
    )
    from cuescope_sdk.data._episodes import (
        Episode as Episode,
        EpisodeOptions as EpisodeOptions,
        Episodes as Episodes,
        held_out_categories as held_out_categories,
    )
    from cuescope_sdk.data._groups import (
        BY_ITSELF as BY_ITSELF,
        Grouping as Grouping,
        source_column as source_column,
        source_of as source_of,
    )
    from cuescope_sdk.data._image_folders import (
        ImageFolder as ImageFolder,
        ImageFolderOptions as ImageFolderOptions,
        ImageItem as ImageItem,
        MediaFolder as MediaFolder,
    )
    from cuescope_sdk.data._independence import (
        independent_samples as independent_samples,
    )
    from cuescope_sdk.data._media.content import content_digest as content_digest
    from cuescope_sdk.data._media.files import (
        kind_of as kind_of,
        printable_name as printable_name,
        shorten_names as shorten_names,
    )
    from cuescope_sdk.data._media.frames import Probe as Probe
    from cuescope_sdk.data._media.images import (
        PictureShape as PictureShape,
        keep_content as keep_content,
        picture_shape as picture_shape,
    )
    from cuescope_sdk.data._media.survey import probe_all as probe_all
    from cuescope_sdk.data._media.unread import Unread as Unread
    from cuescope_sdk.data._media.video import open_video as open_video
    from cuescope_sdk.data._near_duplicates import (
        are_frames as are_frames,
        near_duplicate_groups as near_duplicate_groups,
    )
    from cuescope_sdk.data._other_explanations import (
        Comparison as Comparison,
        other_explanations as other_explanations,
    )
    from cuescope_sdk.data._own_files import require_inside as require_inside
    from cuescope_sdk.data._sufficiency import (
        require_data as require_data,
        warn_of_weak_data as warn_of_weak_data,
    )
    from cuescope_sdk.data._text_files import TextFile as TextFile
    from cuescope_sdk.data._video_questions import (
        Question as Question,
        VideoQuestionOptions as VideoQuestionOptions,
        VideoQuestions as VideoQuestions,
        Videos as Videos,
        parse_timed_actions as parse_timed_actions,
    )

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "cuescope_core.pixels": ["to_rgb"],
        "cuescope_core.plain_yaml": ["load_yaml"],
        "cuescope_core.atomic_files": ["Draft"],
        "._card": ["check_choices", "check_groups", "contact_sheet", "describe_data"],
        "._conditions": ["picture_quality"],
        "._covar": ["CovarManifest", "CovarRow"],
        "._episodes": ["Episode", "EpisodeOptions", "Episodes", "held_out_categories"],
        "._groups": [
            "BY_ITSELF",
            "Grouping",
            "source_column",
            "source_of",
        ],
        "._image_folders": [
            "ImageFolder",
            "ImageFolderOptions",
            "ImageItem",
            "MediaFolder",
        ],
        "._independence": ["independent_samples"],
        "._media.content": ["content_digest"],
        "._media.files": ["kind_of", "printable_name", "shorten_names"],
        "._media.frames": ["Probe"],
        "._media.images": ["PictureShape", "keep_content", "picture_shape"],
        "._media.survey": ["probe_all"],
        "._media.unread": ["Unread"],
        "._media.video": ["open_video"],
        "._near_duplicates": ["are_frames", "near_duplicate_groups"],
        "._other_explanations": ["Comparison", "other_explanations"],
        "._own_files": ["require_inside"],
        "._sufficiency": ["require_data", "warn_of_weak_data"],
        "._text_files": ["TextFile"],
        "._video_questions": [
            "Question",
            "VideoQuestionOptions",
            "VideoQuestions",
            "Videos",
            "parse_timed_actions",
        ],
    },
)
