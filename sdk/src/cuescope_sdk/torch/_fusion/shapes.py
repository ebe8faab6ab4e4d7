"""Shapes of tensors in attention: a head sees keys from queries."""

from jaxtyping import Bool, Float, Int, Int8
from torch import Tensor

Query = Float[Tensor, "batch head query dim"]
Key = Float[Tensor, "batch head key dim"]
Value = Float[Tensor, "batch head key value"]
Mixed = Float[Tensor, "batch head query value"]
Weights = Float[Tensor, "batch head query key"]
QueryKinds = Int8[Tensor, " query"]
KeyKinds = Int8[Tensor, " key"]
BatchQueryKinds = Int8[Tensor, "batch query"]
BatchKeyKinds = Int8[Tensor, "batch key"]
Seen = Bool[Tensor, "#batch #head #query key"]
SeenByRow = Bool[Tensor, "#batch #head #row key"]
Block = Bool[Tensor, " key"]
Rows = Int[Tensor, " row"]
RowStates = Float[Tensor, "batch head row dim"]
Sizes = Float[Tensor, "*batch"]
FirstStates = Float[Tensor, "batch head first dim"]
