"""Shapes of arrays in this room. A name without `Int` or `Bool` is of floats."""

import numpy as np
from jaxtyping import Bool, Float, Int

PerSample = Float[np.ndarray, " sample"]
PerCell = Float[np.ndarray, " cell"]
PerItem = Float[np.ndarray, " item"]
PerRow = Float[np.ndarray, " row"]
PerCue = Float[np.ndarray, " cue"]
PerUnit = Float[np.ndarray, " unit"]
PerDraw = Float[np.ndarray, " draw"]
SampleByCell = Float[np.ndarray, "sample cell"]
GroupByCell = Float[np.ndarray, "group cell"]
GroupByColumn = Float[np.ndarray, "group column"]
FeatureByColumn = Float[np.ndarray, "feature column"]
DrawByCell = Float[np.ndarray, "draw cell"]
CueByUnit = Float[np.ndarray, "cue unit"]
IntPerSample = Int[np.ndarray, " sample"]
IntPerUnit = Int[np.ndarray, " unit"]
IntPerRow = Int[np.ndarray, " row"]
IntPerGroup = Int[np.ndarray, " group"]
IntPerCell = Int[np.ndarray, " cell"]
IntOrderBySample = Int[np.ndarray, "order sample"]
BoolPerSample = Bool[np.ndarray, " sample"]
BoolPerItem = Bool[np.ndarray, " item"]
BoolSampleByCell = Bool[np.ndarray, "sample cell"]
