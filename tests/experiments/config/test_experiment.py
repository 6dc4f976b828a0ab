"""Experiment files: the points they stand for, and their mistakes."""

from pathlib import Path

import pytest

from experiments.config.experiment import read_experiment
from forestcoll.errors import InvalidExperimentError
from tests.experiments.config.toy import HEAD, METHODS, RING_BY, SWEEP, TOPOLOGIES, TOY, refusal

QUICKSTART = Path("experiments/quickstart.yaml")


def test_quickstart_has_36_points() -> None:
    """3 clusters x 4 sizes x 3 methods."""
    points = read_experiment(QUICKSTART).points
    assert len(points) == 36
    assert len({point.identity for point in points}) == 36
    assert {point.cluster for point in points} == {"dgx_a100", "dgx_h100", "mi250"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            RING_BY + "{name: rnig}\n",
            "line 5: methods[0].name is 'rnig', an unknown method; did you mean \"ring\"?",
        ),
        (
            HEAD + "topologies:\n  - {family: mi25, parameters: {boxes: 1}}\n" + METHODS,
            "line 3: topologies[0].family is 'mi25', an unknown family; did you mean \"mi250\"?",
        ),
        (
            HEAD + "topologies:\n  - family: mi250\n    parameters: {boxs: 1}\n" + METHODS,
            'line 4: topologies[0].parameters.boxs is an unknown parameter; did you mean "boxes"?',
        ),
        (
            HEAD + "topologies:\n  - family: mi250\n    parameters: {boxes: [1, 0]}\n" + METHODS,
            "line 4: topologies[0].parameters.boxes is '0'; it must be",
        ),
        (
            HEAD + "topologies:\n  - {family: mi250}\n" + METHODS,
            "line 3: topologies[0].parameters lacks boxes, which mi250 needs",
        ),
        (
            HEAD + "topologies:\n  - {file: a.yaml}\n" + METHODS,
            "line 3: topologies[0].file is 'a.yaml'; there is no such file",
        ),
        (
            TOY + "figures: [generation-tim]\n",
            "line 6: figures[0] cannot be drawn: unknown kind of figure 'generation-tim'; "
            'did you mean "generation-time"?',
        ),
        (
            TOY + "figures:\n  - lines\n  - lines:y=depht\n",
            "line 8: figures[1] cannot be drawn: lines: y cannot be 'depht'; did you mean",
        ),
        (
            TOY + "figures: [lines, lines]\n",
            "line 6: figures[1] asks for 'lines' again; remove one",
        ),
        (
            TOY + "figures: [pareto]\n",
            "line 6: figures[0] cannot be drawn: pareto: there is only one method; add another",
        ),
        (
            TOY + "figures: ['heat-map:x=node']\n",
            "line 6: figures[0] cannot be drawn: heat-map: x cannot be 'node', which is not a "
            'parameter here; did you mean "nodes"?',
        ),
        (
            HEAD + SWEEP + "\n      [3, 4,\n      3]}\n" + METHODS,
            "line 6: topologies[0].parameters.nodes[2] is '3', which is in the sweep twice",
        ),
        (
            HEAD + SWEEP + "3}\n  - {family: ring, parameters: {nodes: [4, 3]}}\n" + METHODS,
            "line 5: topologies[1] asks for 'ring' on 'ring:nodes=3' again; remove one",
        ),
        (
            RING_BY + "{name: forestcoll, parameters: {speed: 3}}\n",
            "line 5: methods[0].parameters.speed is an unknown parameter; "
            "known: factored, k, lp_time_limit_s, max_depth, multicast, sparse_exchange, threads",
        ),
        (
            RING_BY + "{name: ring}\n  - {name: ring}\n",
            "line 6: methods[1] asks for 'ring' on 'ring:nodes=3' again; remove one",
        ),
    ],
)
def test_mistakes_name_place_and_nearest_word(tmp_path: Path, text: str, message: str) -> None:
    """Every kind of mistake is found before anything runs."""
    assert message in refusal(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "title: &a [*a]\n", "line 2: nested too deeply"),
        (HEAD + f"title: {'[' * 3000}\n", "toy.yaml: nested too deeply"),
        (TOY + f"repetitions: {'9' * 5000}\n", "line 6: repetitions is '999"),
        (TOY + "repetitions: 010\n", "line 6: repetitions is '010'"),
        (TOY + "limits: {seconds: .nan}\n", "seconds is '.nan'; it should"),
        (TOY + "limits: {seconds: 1e999}\n", "it should be a finite number"),
        (
            RING_BY + "{name: ring, parameters: {rings: abc}}\n",
            "line 5: methods[0].parameters.rings is 'abc'; it must be a whole number",
        ),
        (
            RING_BY + "{name: ring, parameters: {rings: [2, 2.5]}}\n",
            "line 5: methods[0].parameters.rings is '2.5'; it must be a whole number",
        ),
        (
            RING_BY + "{name: multitree, parameters: {unit: x}}\n",
            "line 5: methods[0].parameters.unit is 'x'; it must be a number",
        ),
        (
            RING_BY + "{name: 'zoo:good', parameters: {note: -.inf}}\n",
            "line 5: methods[0].parameters.note is -.inf; it must be a finite number",
        ),
    ],
    ids=lambda text: text[:80],
)
def test_ambiguous_yaml_is_one_typed_line(tmp_path: Path, text: str, message: str) -> None:
    """Recursion, depth, digits, octals and infinities: an error here, not a traceback or a row."""
    assert message in refusal(tmp_path, text)
    assert len(refusal(tmp_path, text)) < 400


def test_a_malformed_topology_is_an_error_at_once(write_experiment, tmp_path: Path) -> None:
    """Both places are named: where the experiment asks for it, and what is wrong in it."""
    (tmp_path / "mine.yaml").write_text("name: mine\nnods: []\nlinks: []\n")
    path = write_experiment(topologies=[{"file": "mine.yaml"}])
    with pytest.raises(InvalidExperimentError) as caught:
        read_experiment(path)
    assert "line 3: topologies[0].file is not a topology: " in str(caught.value)
    assert "mine.yaml, line 2: nods is not a field" in str(caught.value)
    assert caught.value.exit_code == 2


RINGS = "topologies:\n  - {family: ring, parameters: {nodes: [4, 3]}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            HEAD + RINGS + ", without: [gpu3]}\n" + METHODS,
            "line 3: topologies[0] cannot be changed so: 'gpu3' is not a node of ring:nodes=3; did",
        ),
        (
            HEAD + RINGS + ", scale: {gpu0 - gpu2: 2}}\n" + METHODS,
            "topologies[0] cannot be changed so: 'gpu0 - gpu2' names no link of ring:nodes=4",
        ),
        (
            HEAD + RINGS + ", with: {gpu0: 2}}\n" + METHODS,
            "topologies[0] cannot be changed so: 'gpu0' names no two nodes",
        ),
        (
            HEAD + RINGS + ", scale: {gpu0: 0}}\n" + METHODS,
            "topologies[0] cannot be changed so: the factor is 0; it must be positive",
        ),
        (
            HEAD + "group: gpu0,gpu3\n" + RINGS + "}\n" + METHODS,
            "line 2: group is 'gpu0,gpu3': the group names 'gpu3', which is not a node",
        ),
        (
            HEAD + "weights: [1, 2, 1]\n" + RINGS + "}\n" + METHODS,
            "line 2: weights cannot be: 3 weights are given; ring:nodes=4 has 4 GPUs",
        ),
        (
            HEAD + "collective: broadcast\nweights: [1, 2]\n" + TOPOLOGIES + METHODS,
            "line 3: weights is there, but broadcast has none; remove it",
        ),
        (HEAD + "k: 0\n" + TOPOLOGIES + METHODS, "line 2: k is 0; it must be a whole number"),
        (HEAD + "k: [2, 2]\n" + TOPOLOGIES + METHODS, "line 2: k is an empty sweep, or has a"),
        (
            HEAD + "k: 2\n" + TOPOLOGIES + "methods:\n  - {name: forestcoll, parameters: {k: 1}}\n",
            'methods[0].parameters.k is for this method alone; give "k" to the whole experiment',
        ),
        (
            HEAD + RINGS + ", witout: [gpu3]}\n" + METHODS,
            'topologies[0].witout is an unknown key; did you mean "without"?',
        ),
    ],
    ids=lambda text: text[:100],
)
def test_missing_things_are_refused_at_once(tmp_path: Path, text: str, message: str) -> None:
    """Parts, members and weights are looked up in every network of a sweep."""
    assert message in refusal(tmp_path, text)


def test_networks_that_differ_in_their_changes_are_different_points(write_experiment) -> None:
    """Each has a name and a panel that says what was changed, and an identity of its own."""
    ring = {"family": "ring", "parameters": {"nodes": 4}}
    changes = [{}, {"without": ["gpu3"]}, {"scale": {"gpu0 - gpu1": "1/2"}}]
    path = write_experiment(topologies=[ring | change for change in changes])
    points = read_experiment(path).points
    assert [point.topology for point in points] == [
        "ring:nodes=4",
        "ring:nodes=4 without gpu3",
        "ring:nodes=4 with gpu0 - gpu1 x 1/2",
    ]
    assert [point.cluster for point in points][1:] == [
        "ring without gpu3",
        "ring with gpu0 - gpu1 x 1/2",
    ]
    assert len({point.identity for point in points}) == 3


def test_k_is_asked_of_every_method(write_experiment) -> None:
    """As a parameter, so that it can be swept and drawn; whoever takes none says so in a row."""
    path = write_experiment(k=[1, 2], methods=[{"name": "forestcoll"}, {"name": "ring"}])
    points = [point for point in read_experiment(path).points if point.topology == "ring:nodes=3"]
    assert [(point.method, point.parameters["k"]) for point in points] == [
        (name, k) for name in ("forestcoll", "ring") for k in (1, 2)
    ]


BROADCAST = "collective: broadcast\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            HEAD + BROADCAST + TOPOLOGIES + "methods:\n  - {name: bruck}\n",
            "line 2: collective is 'broadcast', which no method here does; "
            "bruck has allgather, reduce-scatter, allreduce",
        ),
        (
            RING_BY + "{name: nccl-tree}\n",
            "collective is 'allgather', which no method here does; nccl-tree has allreduce",
        ),
        (
            HEAD + "root: 1\n" + TOPOLOGIES + METHODS,
            "line 2: root is 1, but allgather has no root; remove it",
        ),
        (
            HEAD + BROADCAST + TOPOLOGIES + "methods:\n  - {name: blink, parameters: {root: 1}}\n",
            'methods[0].parameters.root is for this method alone; give "root" to the whole',
        ),
        (HEAD + BROADCAST + "root: -1\n" + TOPOLOGIES + METHODS, "line 3: root is -1"),
        (HEAD + BROADCAST + "root: 1.5.2.\nrot: 3\n" + TOPOLOGIES + METHODS, "line 4: rot is an"),
    ],
    ids=lambda text: text[:80],
)
def test_a_collective_of_no_method_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """Before anything runs; so is a root where there is none, or one for a single method."""
    assert message in refusal(tmp_path, text)


def test_a_collective_that_one_method_does_is_for_all(write_experiment) -> None:
    """The others give rows that say so; a function of one's own may do anything."""
    methods = [{"name": "forestcoll"}, {"name": "bruck"}]
    points = read_experiment(write_experiment(collective="broadcast", methods=methods)).points
    assert {point.method for point in points} == {"forestcoll", "bruck"}
    own = write_experiment(collective="all-to-all", methods=[{"name": "zoo:good"}])
    assert {point.collective for point in read_experiment(own).points} == {"all-to-all"}


def test_simulations_need_sizes_and_figures_of_them_simulations(write_experiment) -> None:
    with pytest.raises(InvalidExperimentError, match=r"simulate is there without sizes; add some"):
        read_experiment(write_experiment(simulate={"alpha_us": 1}))
    figures = ["lines-by-size:y=algbw_simulated_gb_s"]
    with pytest.raises(
        InvalidExperimentError, match=r"figures\[0\] .* no simulations; add simulate"
    ):
        read_experiment(write_experiment(sizes=["1KB"], figures=figures))
    read_experiment(write_experiment(sizes=["1KB"], simulate={}, figures=figures))


def test_varied_training_parameters_may_be_an_axis(write_experiment) -> None:
    train = {"model": "gemma-2-2b", "utilisation": [0.2, 0.4], "tokens": 512}
    asked = {"collective": "allreduce", "train": train}
    path = write_experiment(**asked, figures=["lines-by-parameter:x=utilisation,y=iteration_s"])
    assert len(read_experiment(path).experiment.figures) == 1
    path = write_experiment(**asked, figures=["lines-by-parameter:x=tokens,y=iteration_s"])
    with pytest.raises(
        InvalidExperimentError, match="x cannot be 'tokens', which is not a parameter"
    ):
        read_experiment(path)
