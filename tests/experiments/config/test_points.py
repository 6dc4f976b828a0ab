"""What makes a point that point: what is run, not under which limits."""

from experiments.config.experiment import read_experiment
from experiments.config.points import Limits, Point


def test_identity_excludes_limits(write_experiment) -> None:
    """Raising a limit keeps a point; another parameter, method or repetition makes a new one."""
    before = read_experiment(write_experiment()).points
    raised = read_experiment(write_experiment(limits={"seconds": 5})).points
    assert [p.identity for p in raised] == [p.identity for p in before]
    repeated = read_experiment(write_experiment(repetitions=2)).points
    assert len({p.identity for p in repeated}) == 4
    other = read_experiment(write_experiment(methods=[{"name": "multitree"}])).points
    assert {p.identity for p in other}.isdisjoint(p.identity for p in before)


def test_identity_includes_the_root(write_experiment) -> None:
    """The first GPU unless another is given; other collectives are the points that they were."""

    def identities(**changes: object) -> list[str]:
        methods = [{"name": "forestcoll"}]
        points = read_experiment(write_experiment(methods=methods, **changes)).points
        return [point.identity for point in points]

    plain = identities(collective="broadcast")
    assert plain == identities(collective="broadcast", root=0)
    assert set(plain).isdisjoint(identities(collective="broadcast", root="gpu1"))
    assert identities() == ["5b41f341218fbb24", "a364f0c76e1ac595"]


def a_point(**changes: object) -> Point:
    given: dict[str, object] = {
        "experiment": "toy",
        "collective": "allgather",
        "cluster": "ring",
        "topology": "ring:nodes=3",
        "source": "ring:nodes=3",
        "method": "ring",
        "parameters": {"rings": 2, "both_ways": True},
        "repetition": 0,
        "limits": Limits(60, 4),
        **changes,
    }
    return Point(**given)  # type: ignore[arg-type]


def test_a_job_has_the_arguments_of_a_worker() -> None:
    """A root and sizes only where there are some; a root of 0 is one."""
    assert a_point().job == {
        "source": "ring:nodes=3",
        "collective": "allgather",
        "method": "ring",
        "parameters": {"rings": 2, "both_ways": True},
        "seconds": 60,
    }
    more = a_point(root=0, sizes=(1024, 2048)).job
    assert (more["root"], more["sizes"]) == (0, [1024, 2048])


def test_series_are_methods_with_their_parameters() -> None:
    assert a_point().series == "ring (rings=2, both_ways=True)"
    assert a_point(parameters={}).series == "ring"


def test_identity_excludes_file_locations_and_sizes() -> None:
    """Nor is the panel; the order of parameters does not matter. All else does."""
    same = [{"source": "/elsewhere"}, {"cluster": "rings"}, {"limits": Limits(1, 1)}]
    same += [{"sizes": (9,)}, {"parameters": {"both_ways": True, "rings": 2}}]
    for changes in same:
        assert a_point(**changes).identity == a_point().identity
    others = [{"experiment": "other"}, {"collective": "allreduce"}, {"topology": "ring:nodes=4"}]
    others += [{"digest": "abc"}, {"method": "direct"}, {"parameters": {}}, {"repetition": 1}]
    others += [{"root": 0}, {"root": "gpu0"}]
    identities = {a_point(**changes).identity for changes in others}
    assert len(identities) == len(others)
    assert a_point().identity not in identities


def test_identity_excludes_simulations() -> None:
    """They do not change the schedule; the job has them."""
    simulate = {"alpha_us": 5, "gamma_s_per_gb": "1/2", "sharing": "fifo", "pipeline_chunks": 1}
    point = a_point(simulate=simulate)
    assert point.identity == a_point().identity
    assert point.job["simulate"] == simulate
    assert "simulate" not in a_point().job
    assert point.simulated == "alpha 5 us, gamma 1/2 s/GB, fifo sharing, 1 pipeline chunk"
    assert a_point().simulated is None
    costs = {"window": 4, "chunk_cost_us": "1.5", "message_cost_us": 2}
    assert a_point(simulate={**simulate, **costs}).simulated == (
        "alpha 5 us, gamma 1/2 s/GB, window 4, 1.5 us a pipeline chunk, 2 us a transfer, "
        "fifo sharing, 1 pipeline chunk"
    )
    held = a_point(
        simulate={**simulate, "gamma_s_per_gb": 0, "lockstep": True, "pipeline_chunks": "best"}
    )
    assert held.simulated == "alpha 5 us, fifo sharing, in lockstep, best pipeline chunks"
