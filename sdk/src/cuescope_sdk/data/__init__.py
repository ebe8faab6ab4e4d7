"""What data set plugins share: media files as frames, official layouts, question files."""

from cuescope_sdk.data._annotation_files import (
    find_file,
    read_csv,
    read_json,
    read_json_object,
    read_lines,
)
from cuescope_sdk.data._episodes import Episode, EpisodeOptions, Episodes
from cuescope_sdk.data._held_out import held_out_categories
from cuescope_sdk.data._image_folders.dataset import ImageFolder, ImageFolderOptions
from cuescope_sdk.data._image_folders.imagenet import WNID, labels_of, read_names
from cuescope_sdk.data._image_folders.items import ImageItem, Listing
from cuescope_sdk.data._image_folders.places import (
    first_place,
    folders_in,
    images_in,
    required_place,
)
from cuescope_sdk.data._media.faults import MAX_PIXELS
from cuescope_sdk.data._media.frames import (
    clip_frames,
    clip_times,
    frames_at,
    frames_between,
    image_frame,
    sample_indices,
)
from cuescope_sdk.data._media.names import kind_of, printable_name
from cuescope_sdk.data._media.probe import Probe
from cuescope_sdk.data._media.survey import probe_all
from cuescope_sdk.data._video_questions.charades import (
    Timed,
    parse_timed_actions,
    read_classes,
    split_cell,
)
from cuescope_sdk.data._video_questions.dataset import VideoQuestionOptions, VideoQuestions
from cuescope_sdk.data._video_questions.finding import find_videos
from cuescope_sdk.data._video_questions.questions import (
    Question,
    describe_video_problems,
    require_enough_questions,
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
    "WNID",
    "labels_of",
    "read_names",
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
