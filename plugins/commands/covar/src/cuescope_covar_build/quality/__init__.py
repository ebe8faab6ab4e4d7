"""Which edited images can be trusted: scores of each, and the reason why one is dropped."""

from cuescope_covar_build.quality.cases import Case as Case
from cuescope_covar_build.quality.judges import Judges as Judges
from cuescope_covar_build.quality.judging import judge as judge, measure as measure
from cuescope_covar_build.quality.thresholds import Thresholds as Thresholds
