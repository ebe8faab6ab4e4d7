"""Contract of models: an answer depends on what is shown, and on nothing else."""

from cuescope_testing._model_contract.answering import ModelAnswers
from cuescope_testing._model_contract.editing import ModelTakesTowerEdits
from cuescope_testing._model_contract.fusing import ModelFuses
from cuescope_testing._model_contract.hiding import ModelHides


class ModelContract(ModelTakesTowerEdits, ModelFuses, ModelHides, ModelAnswers):
    """Every check of a model; see `ModelSetting` for what a test class may set."""
