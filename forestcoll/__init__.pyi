"""The public names, and where each is from: the one list, for type checkers and at run time."""

from forestcoll import draw as draw
from forestcoll import networkx as networkx
from forestcoll.api import compile_program as compile_program
from forestcoll.api import cost as cost
from forestcoll.api import expand as expand
from forestcoll.api import latency as latency
from forestcoll.api import multicast as multicast
from forestcoll.api import optimum as optimum
from forestcoll.api import replan as replan
from forestcoll.api import simulate as simulate
from forestcoll.api import verify as verify
from forestcoll.api import write_schedule as write_schedule
from forestcoll.bounded_depth.depth_limit import rate_by_depth as rate_by_depth
from forestcoll.certificate import certify as certify
from forestcoll.core.fixed_k import FixedK as FixedK
from forestcoll.core.fixed_k import fixed_k as fixed_k
from forestcoll.generation import Generated as Generated
from forestcoll.generation import generate as generate
from forestcoll.generation import generate_factored as generate_factored
from forestcoll.generation import generate_multicast as generate_multicast
from forestcoll.generation import generate_timed as generate_timed
from forestcoll.k_scan import best_k as best_k
from forestcoll.problem.certificate_document import Certificate as Certificate
from forestcoll.problem.certificate_document import read_certificate as read_certificate
from forestcoll.problem.certificate_document import write_certificate as write_certificate
from forestcoll.problem.optimum import Optimum as Optimum
from forestcoll.problem.options import Options as Options
from forestcoll.schedule.allreduce import Allreduce as Allreduce
from forestcoll.schedule.factored import FactoredForest as FactoredForest
from forestcoll.schedule.files import read_schedule as read_schedule
from forestcoll.schedule.forest import Forest as Forest
from forestcoll.schedule.multicast import MulticastForest as MulticastForest
from forestcoll.schedule.program import Program as Program
from forestcoll.schedule.verification import verify_certificate as verify_certificate
from forestcoll.topology import Topology as Topology
from forestcoll.topology import group as group
from forestcoll.topology import load_topology as load_topology
from forestcoll.topology import read_topology as read_topology
from forestcoll.topology import validate as validate
from forestcoll.topology import write_topology as write_topology
from forestcoll.what_if.single_changes import failures as failures
from forestcoll.what_if.single_changes import upgrades as upgrades
from forestcoll.what_if.tightest_cuts import tightest_cuts as tightest_cuts

__version__: str
