"""The public names, and where each is from: the one list, for type checkers and at run time."""

from forestcoll.all_to_all.closed_forms import degree_bound as degree_bound
from forestcoll.all_to_all.closed_forms import product_rate as product_rate
from forestcoll.all_to_all.concurrent_flow import ApproximateFlow as ApproximateFlow
from forestcoll.all_to_all.concurrent_flow import approximate_flow as approximate_flow
from forestcoll.all_to_all.flow_problem import FlowProblem as FlowProblem
from forestcoll.all_to_all.flow_problem import flow_problem as flow_problem
from forestcoll.all_to_all.linear_optimum import AllToAllOptimum as AllToAllOptimum
from forestcoll.all_to_all.linear_optimum import all_to_all_rate as all_to_all_rate
from forestcoll.all_to_all.path_schedule import schedule_of as schedule_of
from forestcoll.allreduce.cutting_planes import allreduce_optimum as allreduce_optimum
from forestcoll.allreduce.result import AllreduceOptimum as AllreduceOptimum
from forestcoll.allreduce.rounding import allreduce_forest as allreduce_forest
from forestcoll.solver.linear_program import Program as Program
from forestcoll.solver.linear_program import Settings as Settings
from forestcoll.solver.linear_program import Solution as Solution
from forestcoll.solver.solve import solve as solve
from lp.allgather.fractional_packing import FractionalPacking as FractionalPacking
from lp.allgather.linear_optimum import AllgatherOptimum as AllgatherOptimum
from lp.allgather.linear_optimum import allgather_rate as allgather_rate
from lp.groups.result import ConcurrentGroups as ConcurrentGroups
from lp.groups.result import ProcessGroup as ProcessGroup
from lp.groups.result import check_concurrent as check_concurrent
from lp.groups.sharing import concurrent_groups as concurrent_groups
