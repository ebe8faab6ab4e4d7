"""What data set plugins share: media files as frames, official layouts, question files."""

from cuescope.plain_yaml import load_yaml as load_yaml
from cuescope.trust.addresses import (
    Roots as Roots,
    is_plain_name as is_plain_name,
    looks_like_address as looks_like_address,
    parse_root as parse_root,
)
from cuescope.trust.paths import inside as inside
from cuescope.whole_files import Draft as Draft
from cuescope_sdk.data._annotation_files import (
    find_file as find_file,
    read_csv as read_csv,
    read_json as read_json,
    read_json_object as read_json_object,
    read_lines as read_lines,
)
from cuescope_sdk.data._copies import require_unchanged_copies as require_unchanged_copies
from cuescope_sdk.data._episodes import (
    Episode as Episode,
    EpisodeOptions as EpisodeOptions,
    Episodes as Episodes,
    held_out_categories as held_out_categories,
)
from cuescope_sdk.data._groups import (
    describe_groups as describe_groups,
    groups_across as groups_across,
    groups_by_rule as groups_by_rule,
)
from cuescope_sdk.data._image_folders import (
    ImageFolder as ImageFolder,
    ImageFolderOptions as ImageFolderOptions,
    ImageItem as ImageItem,
    Listing as Listing,
    first_place as first_place,
    folders_in as folders_in,
    images_in as images_in,
    required_place as required_place,
)
from cuescope_sdk.data._independence import independent_samples as independent_samples
from cuescope_sdk.data._kept_files import KeptFiles as KeptFiles, write_whole as write_whole
from cuescope_sdk.data._media.files import (
    MAX_PIXELS as MAX_PIXELS,
    MOST_PIXELS as MOST_PIXELS,
    kind_of as kind_of,
    printable_name as printable_name,
)
from cuescope_sdk.data._media.frames import (
    Segment as Segment,
    clip_frames as clip_frames,
    clip_times as clip_times,
    frames_at as frames_at,
    frames_between as frames_between,
    image_frame as image_frame,
    sample_indices as sample_indices,
    segment_of as segment_of,
)
from cuescope_sdk.data._media.survey import Probe as Probe, probe as probe, probe_all as probe_all
from cuescope_sdk.data._media.unread import Unread as Unread, why_unread as why_unread
from cuescope_sdk.data._near_duplicates import near_duplicate_groups as near_duplicate_groups
from cuescope_sdk.data._own_files import (
    read_own_bytes as read_own_bytes,
    require_inside as require_inside,
    typed_folders as typed_folders,
)
from cuescope_sdk.data._remote import (
    address_below as address_below,
    cell_address as cell_address,
    fetch_all as fetch_all,
    is_address as is_address,
    list_address as list_address,
    name_at as name_at,
    open_address as open_address,
    stamp_of as stamp_of,
)
from cuescope_sdk.data._sufficiency import (
    DataProfile as DataProfile,
    Shortage as Shortage,
    find_shortages as find_shortages,
    require_data as require_data,
    warn_of_weak_data as warn_of_weak_data,
)
from cuescope_sdk.data._tables import read_text as read_text, table_rows as table_rows
from cuescope_sdk.data._video_questions import (
    Question as Question,
    Timed as Timed,
    VideoQuestionOptions as VideoQuestionOptions,
    VideoQuestions as VideoQuestions,
    describe_video_problems as describe_video_problems,
    find_videos as find_videos,
    open_videos as open_videos,
    parse_timed_actions as parse_timed_actions,
    read_classes as read_classes,
    require_enough_questions as require_enough_questions,
    split_cell as split_cell,
)
