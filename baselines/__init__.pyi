"""The public names, and where each is from: the one list, for type checkers and at run time."""

from baselines.compared_method import Compared as Compared
from baselines.interface.method import Method as Method
from baselines.method_comparison import Comparison as Comparison
from baselines.method_comparison import compare as compare
from baselines.method_comparison import quick_methods as quick_methods
from baselines.registry import METHODS as METHODS
