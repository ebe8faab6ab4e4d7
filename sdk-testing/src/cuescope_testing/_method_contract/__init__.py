"""Contract of methods: it finds what is planted, nothing else, and the same every time."""

from cuescope_testing._method_contract.repeating import MethodRepeats
from cuescope_testing._method_contract.reporting import MethodFinds, MethodReports
from cuescope_testing._method_contract.setting import MethodDeclares


class MethodContract(MethodFinds, MethodRepeats, MethodReports, MethodDeclares):
    """Every check of a method; see `MethodSetting` for what a test class may set."""
