"""Multiple-choice questions of benchmarks, with their videos or without.

A format is a table of columns (`layouts.py`); all else is the same for every benchmark.
"""

from cuescope_questions import layouts
from cuescope_questions.question_file import QuestionFile, QuestionTable


# the public subset alone: answers to all other questions are kept by the authors
class EgoSchema(QuestionFile):
    """EgoSchema (Mangalam et al., 2023): 500 public questions with answers; a video is a group."""

    title = "egoschema"
    benchmark = "EgoSchema"
    tables = (layouts.EGOSCHEMA,)


class LongVideoBench(QuestionFile):
    """LongVideoBench (Wu et al., 2024): the validation set; the group is the video."""

    title = "longvideobench"
    benchmark = "LongVideoBench"
    tables = (layouts.LONGVIDEOBENCH,)


class MVBench(QuestionFile):
    """MVBench (Li et al., 2024): twenty tasks, a file each; the group is the video."""

    title = "mvbench"
    benchmark = "MVBench"
    tables = (layouts.MVBENCH,)


class TVBench(QuestionFile):
    """TVBench (Cores et al., 2024): ten tasks, a file each; the group is the video."""

    title = "tvbench"
    benchmark = "TVBench"
    tables = (layouts.TVBENCH,)


class VideoMME(QuestionFile):
    """Video-MME (Fu et al., 2025): 900 videos, three questions each; the group is the video."""

    title = "video-mme"
    benchmark = "Video-MME"
    tables = (layouts.VIDEO_MME,)


# folds of single questions would remember a scene from its other questions
class VSIBench(QuestionFile):
    """VSI-Bench (Yang et al., 2025): the questions with options, no numbers; a scene is a group."""

    title = "vsi-bench"
    benchmark = "VSI-Bench"
    tables = (layouts.VSI_BENCH,)


class NextQA(QuestionFile):
    """NExT-QA (Xiao et al., 2021), multiple choice, videos optional; the group is the video."""

    title = "nextqa"
    benchmark = "NExT-QA"
    tables = (layouts.NEXT_QA,)


class ImplicitQA(QuestionFile):
    """ImplicitQA (Swetha et al., 2025): what no frame shows by itself; the group is the video."""

    title = "implicitqa"
    benchmark = "ImplicitQA"
    tables = (layouts.IMPLICITQA,)


class LVBench(QuestionFile):
    """LVBench (Wang et al., 2025): videos of an hour; the video is the group."""

    title = "lvbench"
    benchmark = "LVBench"
    tables = (layouts.LVBENCH,)


class Minerva(QuestionFile):
    """MINERVA (Nagrani et al., 2025): reasoning about videos, five options; a video is a group."""

    title = "minerva"
    benchmark = "MINERVA"
    tables = (layouts.MINERVA,)


class MLVU(QuestionFile):
    """MLVU (Zhou et al., 2025): tasks of long videos that have options; the group is the video."""

    title = "mlvu"
    benchmark = "MLVU"
    tables = (layouts.MLVU,)


class MMRV(QuestionFile):
    """MMR-V (Zhu et al., 2025): what is left unsaid in a video, ten options; a video is a group."""

    title = "mmr-v"
    benchmark = "MMR-V"
    tables = (layouts.MMR_V,)


class RTVBench(QuestionFile):
    """RTV-Bench (Xun et al., 2025): questions while a video runs; the group is the video."""

    title = "rtv-bench"
    benchmark = "RTV-Bench"
    tables = (layouts.RTV_BENCH,)


class VideoHolmes(QuestionFile):
    """Video-Holmes (Cheng et al., 2025): clues in short films, six options; a film is a group."""

    title = "video-holmes"
    benchmark = "Video-Holmes"
    tables = (layouts.VIDEO_HOLMES,)


class Pope(QuestionFile):
    """POPE (Li et al., 2023): is there a car in the image? Yes or no; the image is a group."""

    title = "pope"
    benchmark = "POPE"
    tables = (layouts.POPE, layouts.POPE_TABLE)


class SEEDBench(QuestionFile):
    """SEED-Bench (Li et al., 2024), the first and the second; the image or video is the group."""

    title = "seed-bench"
    benchmark = "SEED-Bench"
    tables = (layouts.SEED_BENCH,)


class ScienceQA(QuestionFile):
    """ScienceQA (Lu et al., 2022): school questions of all splits; no column says a group."""

    title = "scienceqa"
    benchmark = "ScienceQA"
    tables = (layouts.SCIENCEQA,)


class AI2D(QuestionFile):
    """AI2D (Kembhavi et al., 2016): diagrams of school books; the diagram is a group."""

    title = "ai2d"
    benchmark = "AI2D"
    tables = (layouts.AI2D, layouts.AI2D_TABLE)


class MMMU(QuestionFile):
    """MMMU (Yue et al., 2024): college exams, validation; no column says a group."""

    title = "mmmu"
    benchmark = "MMMU"
    tables = (layouts.MMMU,)


class MMMUPro(QuestionFile):
    """MMMU-Pro (Yue et al., 2025): ten options; no column says a group."""

    title = "mmmu-pro"
    benchmark = "MMMU-Pro"
    tables = (layouts.MMMU_PRO,)


class MMStar(QuestionFile):
    """MMStar (Chen et al., 2024): chosen so that the image is needed; the image is a group."""

    title = "mmstar"
    benchmark = "MMStar"
    tables = (layouts.MMSTAR_TABLE, layouts.MMSTAR)


class MMBench(QuestionFile):
    """MMBench (Liu et al., 2024): twenty abilities; an image and its turned copies are a group."""

    title = "mmbench"
    benchmark = "MMBench"
    tables = (layouts.MMBENCH,)


__all__ = ["QuestionFile", "QuestionTable"]
