"""Experiment files: the points they stand for, and their mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.config.experiment import read_experiment
from forestcoll.errors import InvalidExperimentError
from forestcoll.topology import load_topology, write_topology

QUICKSTART = Path("experiments/quickstart.yaml")

HEAD = "name: toy\n"
TOPOLOGIES = "topologies:\n  - {family: ring, parameters: {nodes: 3}}\n"
SWEEP = "topologies:\n  - family: ring\n    parameters: {nodes: "
METHODS = "methods:\n  - {name: ring}\n"


def test_quickstart_has_36_points() -> None:
    """3 clusters x 4 sizes x 3 methods."""
    points = read_experiment(QUICKSTART).points
    assert len(points) == 36
    assert len({point.identity for point in points}) == 36
    assert {point.cluster for point in points} == {"dgx_a100", "dgx_h100", "mi250"}


def test_lists_are_sweeps_and_options_name_the_cluster(write_experiment) -> None:
    """2 sizes x 2 options x 2 notes = 8 points in 2 clusters; the default option names none."""
    path = write_experiment(
        topologies=[
            {"family": "mi250", "parameters": {"boxes": [1, 2], "gpus_per_box": [16, 8]}},
        ],
        methods=[{"name": "zoo:good", "parameters": {"note": ["a", "b"]}}],
    )
    points = read_experiment(path).points
    assert len(points) == 8
    assert list(dict.fromkeys(point.cluster for point in points)) == [
        "mi250",
        "mi250:gpus_per_box=8",
    ]
    assert points[-1].topology == "mi250:boxes=2,gpus_per_box=8"
    assert points[-1].parameters == {"note": "b"}


def test_identity_is_what_is_run_not_under_which_limits(write_experiment) -> None:
    """Raising a limit keeps a point; another parameter, method or repetition makes a new one."""
    before = read_experiment(write_experiment()).points
    raised = read_experiment(write_experiment(limits={"seconds": 5})).points
    assert [p.identity for p in raised] == [p.identity for p in before]
    repeated = read_experiment(write_experiment(repetitions=2)).points
    assert len({p.identity for p in repeated}) == 4
    other = read_experiment(write_experiment(methods=[{"name": "multitree"}])).points
    assert {p.identity for p in other}.isdisjoint(p.identity for p in before)


def test_a_topology_file_counts_by_its_content(write_experiment, tmp_path: Path) -> None:
    """The same file is the same point wherever it lies; a changed file is another point."""
    file = tmp_path / "mine.yaml"
    write_topology(load_topology("ring:nodes=3"), file)
    path = write_experiment(topologies=[{"file": "mine.yaml"}])
    (first,) = read_experiment(path).points
    assert (first.cluster, first.topology) == ("mine", "mine.yaml")
    write_topology(load_topology("ring:nodes=4"), file)
    (second,) = read_experiment(path).points
    assert first.identity != second.identity


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            HEAD + "topologes: []\n" + METHODS,
            'line 2: topologes is an unknown key; did you mean "topologies"?',
        ),
        (
            HEAD + TOPOLOGIES + "methods:\n  - {nmae: ring}\n",
            'line 5: methods[0].nmae is an unknown key; did you mean "name"?',
        ),
        (
            HEAD + TOPOLOGIES + "methods:\n  - {name: rnig}\n",
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
            HEAD + "topologies:\n  - {family: mi250, file: a.yaml}\n" + METHODS,
            'line 3: topologies[0] needs either "family" or "file"',
        ),
        (
            HEAD + "topologies:\n  - {file: a.yaml}\n" + METHODS,
            "line 3: topologies[0].file is 'a.yaml'; there is no such file",
        ),
        (
            HEAD + TOPOLOGIES + METHODS + "collective: alltoall\n",
            "line 6: collective is 'alltoall', an unknown value; did you mean \"all-to-all\"?",
        ),
        (
            HEAD + TOPOLOGIES + METHODS + "figures: [generation-tim]\n",
            "line 6: figures[0] cannot be drawn: unknown kind of figure 'generation-tim'; "
            'did you mean "generation-time"?',
        ),
        (
            HEAD + TOPOLOGIES + METHODS + "figures:\n  - lines\n  - lines:y=heigt\n",
            "line 8: figures[1] cannot be drawn: lines: y cannot be 'heigt'; did you mean",
        ),
        (
            HEAD + TOPOLOGIES + METHODS + "figures: ['lines:z=height']\n",
            "line 6: figures[0] cannot be drawn: lines: unknown option 'z'; known: y",
        ),
        (
            HEAD + TOPOLOGIES + METHODS + "figures: [lines, lines]\n",
            "line 6: figures[1] asks for 'lines' again; remove one",
        ),
        (
            HEAD + TOPOLOGIES + METHODS + "figures: [pareto]\n",
            "line 6: figures[0] cannot be drawn: pareto: there is only one method; add another",
        ),
        (
            HEAD + TOPOLOGIES + METHODS + "figures: ['pareto:x=height,y=height']\n",
            "line 6: figures[0] cannot be drawn: pareto: x and y are both 'height'; change one",
        ),
        (
            HEAD + TOPOLOGIES + METHODS + "figures: ['heat-map:x=node']\n",
            "line 6: figures[0] cannot be drawn: heat-map: x cannot be 'node', which is no "
            'parameter here; did you mean "nodes"?',
        ),
        (
            HEAD + TOPOLOGIES + METHODS + "limits: {second: 5}\n",
            'line 6: limits.second is an unknown key; did you mean "seconds"?',
        ),
        (
            HEAD + TOPOLOGIES + METHODS + "limits: {seconds: -5}\n",
            "line 6: limits.seconds is -5; it should be greater than 0",
        ),
        (
            HEAD + TOPOLOGIES + METHODS + "limits:\n  memory_gb: 0.01\n",
            "line 7: limits.memory_gb is 0.01; it should be greater than or equal to 0.1",
        ),
        (
            HEAD + TOPOLOGIES + METHODS + "limits: {seconds: .inf}\n",
            "line 6: limits.seconds is '.inf'; it should be a finite number",
        ),
        (
            HEAD + TOPOLOGIES + METHODS + "repetitions: no\n",
            "line 6: repetitions is 'no'; it should be a valid integer",
        ),
        (
            HEAD + SWEEP + "{from: 3, too: 9}}\n" + METHODS,
            'line 4: topologies[0].parameters.nodes.too is an unknown key; did you mean "to"?',
        ),
        (
            HEAD + SWEEP + "{from: 3}}\n" + METHODS,
            "line 4: topologies[0].parameters.nodes.to is missing; add it",
        ),
        (
            HEAD + SWEEP + "{from: 3, to: 9, step: 1, factor: 2}}\n" + METHODS,
            'line 4: topologies[0].parameters.nodes has both "step" and "factor"; keep one',
        ),
        (
            HEAD + SWEEP + "{from: 9, to: 3}}\n" + METHODS,
            'line 4: topologies[0].parameters.nodes runs from 9 to 3; "to" must not be less',
        ),
        (
            HEAD + SWEEP + "{from: 0, to: 3, factor: 2}}\n" + METHODS,
            "line 4: topologies[0].parameters.nodes runs by a factor from 0; it must start from 1",
        ),
        (
            HEAD + SWEEP + "{from: 1, to: 1000000}}\n" + METHODS,
            "line 4: topologies[0].parameters.nodes has over 10000 values",
        ),
        (
            HEAD + SWEEP + "{from: 1, to: four}}\n" + METHODS,
            "line 4: topologies[0].parameters.nodes.to is 'four'; it should be a valid integer",
        ),
        (
            HEAD + SWEEP + "\n      [3, 4,\n      3]}\n" + METHODS,
            "line 6: topologies[0].parameters.nodes[2] is '3', which is in the sweep twice",
        ),
        (
            HEAD + SWEEP + "}\n" + METHODS,
            "line 4: topologies[0].parameters.nodes has no value; add one",
        ),
        (
            HEAD + SWEEP + "3}\n  - {family: ring, parameters: {nodes: [4, 3]}}\n" + METHODS,
            "line 5: topologies[1] asks for 'ring' on 'ring:nodes=3' again; remove one",
        ),
        (HEAD + TOPOLOGIES, "line 1: methods is missing; add it"),
        (
            HEAD + TOPOLOGIES + "methods:\n  - {name: forestcoll, parameters: {speed: 3}}\n",
            "line 5: methods[0].parameters.speed is an unknown parameter; "
            "known: k, multicast, program_s, threads",
        ),
        (
            HEAD + TOPOLOGIES + "methods:\n  - {name: ring}\n  - {name: ring}\n",
            "line 6: methods[1] asks for 'ring' on 'ring:nodes=3' again; remove one",
        ),
        (
            HEAD + HEAD + TOPOLOGIES + METHODS,
            "line 2: the key 'name' is given twice; remove or rename one",
        ),
        ("name: [toy\n", "not valid YAML"),
        (
            "name: ../toy\n" + TOPOLOGIES + METHODS,
            "line 1: name is '../toy'; it should match",
        ),
        ("just words\n", "line 1: the file holds no keys and values"),
        ("", "toy.yaml: the file holds no keys and values"),
    ],
)
def test_a_mistake_is_one_line_with_its_place_and_the_nearest_word(
    tmp_path: Path, text: str, message: str
) -> None:
    """Every kind of mistake is found before anything runs."""
    path = tmp_path / "toy.yaml"
    path.write_text(text)
    with pytest.raises(InvalidExperimentError) as caught:
        read_experiment(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_an_error_not_a_traceback(tmp_path: Path) -> None:
    """The operating system's reason is in the message."""
    with pytest.raises(InvalidExperimentError, match="no such file"):
        read_experiment(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "title: &a [*a]\n", "line 2: nested too deeply"),
        (HEAD + f"title: {'[' * 3000}\n", "toy.yaml: nested too deeply"),
        (
            HEAD + TOPOLOGIES + METHODS + f"repetitions: {'9' * 5000}\n",
            "line 6: repetitions is '999",
        ),
        (HEAD + TOPOLOGIES + METHODS + "repetitions: 010\n", "line 6: repetitions is '010'"),
        (HEAD + TOPOLOGIES + METHODS + "limits: {seconds: .nan}\n", "seconds is '.nan'; it should"),
        (
            HEAD + TOPOLOGIES + METHODS + "limits: {seconds: 1e999}\n",
            "it should be a finite number",
        ),
        (
            HEAD + TOPOLOGIES + "methods:\n  - {name: ring, parameters: {rings: abc}}\n",
            "line 5: methods[0].parameters.rings is 'abc'; it must be a whole number",
        ),
        (
            HEAD + TOPOLOGIES + "methods:\n  - {name: ring, parameters: {rings: [2, 2.5]}}\n",
            "line 5: methods[0].parameters.rings is '2.5'; it must be a whole number",
        ),
        (
            HEAD + TOPOLOGIES + "methods:\n  - {name: multitree, parameters: {unit: x}}\n",
            "line 5: methods[0].parameters.unit is 'x'; it must be a number",
        ),
        (
            HEAD + TOPOLOGIES + "methods:\n  - {name: 'zoo:good', parameters: {note: -.inf}}\n",
            "line 5: methods[0].parameters.note is -.inf; it must be a finite number",
        ),
    ],
    ids=lambda text: text[:80],
)
def test_what_yaml_would_guess_or_choke_on_is_one_typed_line(
    tmp_path: Path, text: str, message: str
) -> None:
    """Recursion, depth, digits, octals and infinities: an error here, not a traceback or a row."""
    path = tmp_path / "toy.yaml"
    path.write_text(text)
    with pytest.raises(InvalidExperimentError) as caught:
        read_experiment(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_an_alias_bomb_is_refused_at_once(tmp_path: Path) -> None:
    """9 aliases on each of 18 levels: 9**18 values if anyone wrote them out."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 18)]
    path = tmp_path / "toy.yaml"
    path.write_text("\n".join([*lines, "collective: *a17"]))
    with pytest.raises(InvalidExperimentError, match="a0 is an unknown key"):
        read_experiment(path)


def test_decimals_stay_exact_and_titles_are_text(tmp_path: Path) -> None:
    """A unit of 12.50 reaches the method as written; limits are numbers; 2024-13-45 is a title."""
    path = tmp_path / "toy.yaml"
    for title, text in (("2024-13-45", "2024-13-45"), ("2024", "2024"), ("true", "true")):
        methods = "methods:\n  - {name: multitree, parameters: {unit: 12.50}}\n"
        limits = "limits: {seconds: 2.5, memory_gb: 1}\n"
        path.write_text(f"{HEAD}title: {title}\n{TOPOLOGIES}{methods}{limits}")
        parsed = read_experiment(path)
        assert parsed.experiment.title == text
        (point,) = parsed.points
        assert point.parameters == {"unit": "12.50"}
        assert (point.limits.seconds, point.limits.memory_gb) == (2.5, 1.0)


def test_a_malformed_topology_file_is_an_error_before_anything_runs(
    write_experiment, tmp_path: Path
) -> None:
    """Both places are named: where the experiment asks for it, and what is wrong in it."""
    (tmp_path / "mine.yaml").write_text("name: mine\nnods: []\nlinks: []\n")
    path = write_experiment(topologies=[{"file": "mine.yaml"}])
    with pytest.raises(InvalidExperimentError) as caught:
        read_experiment(path)
    assert "line 3: topologies[0].file is no topology: " in str(caught.value)
    assert "mine.yaml, line 2: nods is not a field" in str(caught.value)
    assert caught.value.exit_code == 2


BROADCAST = "collective: broadcast\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            HEAD + BROADCAST + TOPOLOGIES + METHODS,
            "line 2: collective is 'broadcast', which no method here does; "
            "ring has allgather, reduce-scatter, allreduce",
        ),
        (
            HEAD + TOPOLOGIES + "methods:\n  - {name: nccl-tree}\n",
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
def test_a_collective_that_nobody_does_is_a_mistake(
    tmp_path: Path, text: str, message: str
) -> None:
    """Before anything runs; so is a root where there is none, or one for a single method."""
    path = tmp_path / "toy.yaml"
    path.write_text(text)
    with pytest.raises(InvalidExperimentError) as caught:
        read_experiment(path)
    assert message in str(caught.value)


def test_a_collective_that_one_method_does_is_for_all(write_experiment) -> None:
    """The others give rows that say so; a function of one's own may do anything."""
    methods = [{"name": "forestcoll"}, {"name": "ring"}]
    points = read_experiment(write_experiment(collective="broadcast", methods=methods)).points
    assert {point.method for point in points} == {"forestcoll", "ring"}
    own = write_experiment(collective="all-to-all", methods=[{"name": "zoo:good"}])
    assert {point.collective for point in read_experiment(own).points} == {"all-to-all"}


def test_the_root_is_part_of_what_is_run(write_experiment) -> None:
    """The first GPU unless another is given; other collectives are the points that they were."""

    def identities(**changes: object) -> list[str]:
        methods = [{"name": "forestcoll"}]
        points = read_experiment(write_experiment(methods=methods, **changes)).points
        return [point.identity for point in points]

    plain = identities(collective="broadcast")
    assert plain == identities(collective="broadcast", root=0)
    assert set(plain).isdisjoint(identities(collective="broadcast", root="gpu1"))
    assert identities() == ["5b41f341218fbb24", "a364f0c76e1ac595"]
