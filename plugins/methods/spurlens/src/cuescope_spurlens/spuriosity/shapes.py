"""Shapes of arrays in this package. A name without `Int` or `Bool` is of floats.

A row is a sample of an image set. A unit is what counts once: a sample, or all of one group.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

PerRow = Float[np.ndarray, " row"]
PerUnit = Float[np.ndarray, " unit"]
PerCue = Float[np.ndarray, " cue"]
PerK = Float[np.ndarray, " k"]
SampleByCue = Float[np.ndarray, "sample cue"]
IntPerUnit = Int[np.ndarray, " unit"]
IntPerK = Int[np.ndarray, " k"]
IntCueByK = Int[np.ndarray, "cue k"]
IntSome = Int[np.ndarray, " some"]
BoolPerRow = Bool[np.ndarray, " row"]
BoolPerUnit = Bool[np.ndarray, " unit"]
