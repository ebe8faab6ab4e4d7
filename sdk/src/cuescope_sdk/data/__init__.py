"""What data set plugins share: media files as frames, official layouts, question files."""

from cuescope.plain_yaml import load_yaml
from cuescope.whole_files import Draft
from cuescope_sdk.data._annotation_files import (
    find_file,
    read_csv,
    read_json,
    read_json_object,
    read_lines,
)
from cuescope_sdk.data._episodes import (
    Episode,
    EpisodeOptions,
    Episodes,
    held_out_categories,
)
from cuescope_sdk.data._groups import describe_groups, groups_across, groups_by_rule
from cuescope_sdk.data._image_folders import (
    ImageFolder,
    ImageFolderOptions,
    ImageItem,
    Listing,
    first_place,
    folders_in,
    images_in,
    required_place,
)
from cuescope_sdk.data._independence import independent_samples
from cuescope_sdk.data._media.content import content_digest
from cuescope_sdk.data._media.files import (
    MAX_PIXELS,
    MOST_PIXELS,
    kind_of,
    printable_name,
)
from cuescope_sdk.data._media.frames import Probe, sample_indices
from cuescope_sdk.data._media.survey import probe_all
from cuescope_sdk.data._media.unread import Unread
from cuescope_sdk.data._near_duplicates import near_duplicate_groups
from cuescope_sdk.data._own_files import require_inside
from cuescope_sdk.data._sufficiency import require_data, warn_of_weak_data
from cuescope_sdk.data._tables import read_text, table_rows
from cuescope_sdk.data._video_questions import (
    Question,
    VideoQuestionOptions,
    VideoQuestions,
    Videos,
    parse_timed_actions,
    read_classes,
)

__all__ = [
    "Draft",
    "Episode",
    "EpisodeOptions",
    "Episodes",
    "ImageFolder",
    "ImageFolderOptions",
    "ImageItem",
    "Listing",
    "MAX_PIXELS",
    "MOST_PIXELS",
    "Probe",
    "Question",
    "Unread",
    "VideoQuestionOptions",
    "VideoQuestions",
    "Videos",
    "content_digest",
    "describe_groups",
    "find_file",
    "first_place",
    "folders_in",
    "groups_across",
    "groups_by_rule",
    "held_out_categories",
    "images_in",
    "independent_samples",
    "kind_of",
    "load_yaml",
    "near_duplicate_groups",
    "parse_timed_actions",
    "printable_name",
    "probe_all",
    "read_classes",
    "read_csv",
    "read_json",
    "read_json_object",
    "read_lines",
    "read_text",
    "require_data",
    "require_inside",
    "required_place",
    "sample_indices",
    "table_rows",
    "warn_of_weak_data",
]
