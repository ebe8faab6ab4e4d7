"""What data set plugins share: media files as frames, official layouts, question files."""

from cuescope_sdk.data._annotation_files import (
    find_file,
    read_csv,
    read_json,
    read_json_object,
    read_lines,
)
from cuescope_sdk.data._episodes import Episode, EpisodeOptions, Episodes, held_out_categories
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
from cuescope_sdk.data._media.frames import (
    clip_frames,
    clip_times,
    frames_at,
    frames_between,
    image_frame,
    sample_indices,
)
from cuescope_sdk.data._media.probe import MAX_PIXELS, Probe, kind_of, printable_name
from cuescope_sdk.data._media.survey import probe_all
from cuescope_sdk.data._video_questions import (
    Question,
    Timed,
    VideoQuestionOptions,
    VideoQuestions,
    describe_video_problems,
    find_videos,
    parse_timed_actions,
    read_classes,
    require_enough_questions,
    split_cell,
)

__all__ = [
    "find_file",
    "read_csv",
    "read_json",
    "read_json_object",
    "read_lines",
    "Episode",
    "EpisodeOptions",
    "Episodes",
    "held_out_categories",
    "ImageFolder",
    "ImageFolderOptions",
    "ImageItem",
    "Listing",
    "first_place",
    "folders_in",
    "images_in",
    "required_place",
    "MAX_PIXELS",
    "clip_frames",
    "clip_times",
    "frames_at",
    "frames_between",
    "image_frame",
    "sample_indices",
    "kind_of",
    "printable_name",
    "Probe",
    "probe_all",
    "Timed",
    "parse_timed_actions",
    "read_classes",
    "split_cell",
    "VideoQuestionOptions",
    "VideoQuestions",
    "find_videos",
    "Question",
    "describe_video_problems",
    "require_enough_questions",
]
