"""What data set plugins share: media files as frames, official layouts, question files."""

from cuescope.pixels import to_rgb
from cuescope.plain_yaml import load_yaml
from cuescope.whole_files import Draft
from cuescope_sdk.data._card import (
    check_choices,
    check_groups,
    contact_sheet,
    describe_data,
)
from cuescope_sdk.data._conditions import picture_quality
from cuescope_sdk.data._covar import CovarManifest, CovarRow
from cuescope_sdk.data._episodes import (
    Episode,
    EpisodeOptions,
    Episodes,
    held_out_categories,
)
from cuescope_sdk.data._groups import BY_ITSELF, Grouping, source_column, source_of
from cuescope_sdk.data._image_folders import (
    ImageFolder,
    ImageFolderOptions,
    ImageItem,
    MediaFolder,
)
from cuescope_sdk.data._independence import independent_samples
from cuescope_sdk.data._media.content import content_digest
from cuescope_sdk.data._media.files import kind_of, printable_name
from cuescope_sdk.data._media.frames import Probe
from cuescope_sdk.data._media.images import PictureShape, picture_shape
from cuescope_sdk.data._media.survey import probe_all
from cuescope_sdk.data._media.unread import Unread
from cuescope_sdk.data._media.video import open_video
from cuescope_sdk.data._near_duplicates import are_frames, near_duplicate_groups
from cuescope_sdk.data._other_explanations import Comparison, other_explanations
from cuescope_sdk.data._own_files import require_inside
from cuescope_sdk.data._sufficiency import require_data, warn_of_weak_data
from cuescope_sdk.data._text_files import TextFile
from cuescope_sdk.data._video_questions import (
    Question,
    VideoQuestionOptions,
    VideoQuestions,
    Videos,
    parse_timed_actions,
)

__all__ = [
    "BY_ITSELF",
    "Comparison",
    "CovarManifest",
    "CovarRow",
    "Draft",
    "Episode",
    "EpisodeOptions",
    "Episodes",
    "Grouping",
    "ImageFolder",
    "ImageFolderOptions",
    "ImageItem",
    "MediaFolder",
    "PictureShape",
    "Probe",
    "Question",
    "TextFile",
    "Unread",
    "VideoQuestionOptions",
    "VideoQuestions",
    "Videos",
    "are_frames",
    "check_choices",
    "check_groups",
    "contact_sheet",
    "content_digest",
    "describe_data",
    "held_out_categories",
    "independent_samples",
    "kind_of",
    "load_yaml",
    "near_duplicate_groups",
    "open_video",
    "other_explanations",
    "parse_timed_actions",
    "picture_quality",
    "picture_shape",
    "printable_name",
    "probe_all",
    "require_data",
    "require_inside",
    "source_column",
    "source_of",
    "to_rgb",
    "warn_of_weak_data",
]
