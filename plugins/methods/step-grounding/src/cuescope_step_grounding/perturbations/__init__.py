"""Controlled perturbations (section 3.5 of the paper): a video changed in a known way."""

from cuescope_step_grounding.perturbations.key_objects import key_boxes
from cuescope_step_grounding.perturbations.videos import magnitudes, perturbed_frames

__all__ = ["key_boxes", "magnitudes", "perturbed_frames"]
