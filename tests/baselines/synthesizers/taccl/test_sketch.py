"""Sketches in text: every field, TACCL's own files, and how faulty ones are refused."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from baselines.synthesizers.taccl.sketch import Sketch, sketch_of
from forestcoll.errors import InvalidParameterError
from forestcoll.topology.reading.documents import parse_json, parse_yaml

WHOLE = """\
nnodes: [4, 2, 4]
intranode_sketch:
  strategy: switch
  switches: [[3, 2, 1, 0], [0, 1, 2, 3]]
  switch_hyperedge_strategy: [uc-max, uc-max]
internode_sketch:
  strategy: relay
  internode_conn: {"3": [2], "1": [0]}
  gpus_to_sender_rev_map: {"1": [0, 1], "3": [2, 3]}
  enforce_ordering: true
symmetry_offsets: [[2, 4], [4, all]]
hyperparameters: {input_chunkup: 3}
description: four GPUs on two planes of a switch
"""

LEAST = """\
nnodes: 1
intranode_sketch: {strategy: none}
symmetry_offsets: []
hyperparameters: {input_chunkup: 1}
"""

SWITCHES = {"strategy": "switch", "switch_hyperedge_strategy": ["uc-min"]}


def read(text: str) -> Sketch:
    return sketch_of(parse_yaml(text, "sketch.yaml", InvalidParameterError))


def read_json(data: object) -> Sketch:
    return sketch_of(parse_json(json.dumps(data), "sketch.json", InvalidParameterError))


def fault(text: str) -> str:
    """The message with which a sketch is refused; one line that starts with the file."""
    with pytest.raises(InvalidParameterError) as caught:
        read(text)
    message = str(caught.value)
    assert message.startswith("sketch.yaml")
    assert "\n" not in message
    return message.removeprefix("sketch.yaml")


def changed(line: int, text: str) -> str:
    """The whole sketch with another line, a comment for none."""
    lines = WHOLE.splitlines()
    lines[line - 1] = text or "# nothing"
    return "\n".join(lines)


def test_every_field_is_read() -> None:
    """GPUs of a switch and senders come in order."""
    assert read(WHOLE) == Sketch(
        source="sketch.yaml",
        boxes=(2, 4),
        local="switch",
        switches=((0, 1, 2, 3), (0, 1, 2, 3)),
        unique="uc-max",
        connections={1: (0,), 3: (2,)},
        sources={1: (0, 1), 3: (2, 3)},
        own_first=True,
        symmetry=((2, 4), (4, 0)),
        chunks=3,
    )
    assert list(read(WHOLE).connections) == [1, 3]


def test_a_sketch_of_one_box_needs_links_symmetry_and_chunks_only() -> None:
    assert read(LEAST) == Sketch("sketch.yaml", (1,))


def test_a_sketch_of_one_box_may_describe_links_between_boxes() -> None:
    text = LEAST + "internode_sketch: {strategy: relay, internode_conn: direct-map}\n"
    assert read(text) == Sketch("sketch.yaml", (1,), pattern="direct-map")


@pytest.mark.parametrize("strategy", ["none", "minmax", "maxmin"])
def test_strategies_without_switches(strategy: str) -> None:
    assert read(LEAST.replace("none", strategy)).local == strategy


@pytest.mark.parametrize("pattern", ["direct-map", "fully-connected"])
def test_connections_by_name(pattern: str) -> None:
    """Their senders are known with the network only."""
    sketch = read(changed(8, f"  internode_conn: {pattern}"))
    assert (sketch.pattern, sketch.connections) == (pattern, {})
    assert sketch.sources == {1: (0, 1), 3: (2, 3)}


def test_the_published_sketch_of_two_dgx2() -> None:
    """Odd GPUs send to even ones, for their pair, in TACCL's own fields and nothing else."""
    odd = range(1, 16, 2)
    published = {
        "nnodes": 2,
        "intranode_sketch": {**SWITCHES, "switches": [list(range(16))]},
        "internode_sketch": {
            "strategy": "relay",
            "internode_conn": {str(gpu): [gpu - 1] for gpu in odd},
            "gpus_to_sender_rev_map": {str(gpu): [gpu - 1, gpu] for gpu in odd},
            "enforce_ordering": True,
        },
        "symmetry_offsets": [[2, 16], [16, 32]],
        "hyperparameters": {"input_chunkup": 2},
    }
    assert read_json(published) == Sketch(
        source="sketch.json",
        boxes=(2,),
        local="switch",
        switches=(tuple(range(16)),),
        unique="uc-min",
        connections={gpu: (gpu - 1,) for gpu in odd},
        sources={gpu: (gpu - 1, gpu) for gpu in odd},
        own_first=True,
        symmetry=((2, 16), (16, 32)),
        chunks=2,
    )


@pytest.mark.parametrize(
    "connections",
    [{1: (0,), 3: (2,)}, {0: (1,)}, {0: (0,), 1: (1,)}, {0: (1, 2), 3: (4, 5)}, {}],
)
def test_reversing_a_sketch_twice_restores_it(connections: Mapping[int, tuple[int, ...]]) -> None:
    sources = {sender: (sender, 7) for sender in connections}
    for sketch in (
        Sketch("s", (2,), connections=connections),
        Sketch("s", (2,), connections=connections, sources=sources, own_first=True),
    ):
        assert sketch.reversed().reversed() == replace(sketch, own_first=False)


@pytest.mark.parametrize("asked", [{"pattern": "direct-map"}, {"pattern": "fully-connected"}])
def test_turned_round_no_own_chunks_go_first(asked: dict[str, str]) -> None:
    """They say nothing of what comes in; where any may take out anything rows know no order."""
    sketch = Sketch("s", (2,), sources={0: (0, 1)}, own_first=True, **asked)
    assert not sketch.reversed().own_first


def test_reversed_receivers_send_the_sources_of_their_senders() -> None:
    """GPU 2 receives from two, and takes out what either did; of GPU 5 nothing is taken."""
    sketch = Sketch(
        source="s",
        boxes=(2,),
        connections={0: (2, 3), 1: (2, 4), 5: (6, 7)},
        sources={0: (0, 8), 1: (1, 8)},
        symmetry=((8, 0),),
        chunks=2,
    )
    turned = sketch.reversed()
    assert turned.connections == {2: (0, 1), 3: (0,), 4: (1,), 6: (5,), 7: (5,)}
    assert turned.sources == {2: (0, 1, 8), 3: (0, 8), 4: (1, 8), 6: (), 7: ()}
    assert (turned.symmetry, turned.chunks) == (sketch.symmetry, sketch.chunks)


def test_a_reversed_direct_map_keeps_its_sources() -> None:
    """As in TACCL's sketch for two DGX-2 in which each GPU takes out its own."""
    sketch = Sketch("s", (2,), pattern="direct-map", sources={0: (0,), 1: (1,)})
    assert sketch.reversed() == sketch


def test_a_reversed_fully_connected_sketch_has_no_sources() -> None:
    every = Sketch("s", (2,), pattern="fully-connected", sources={0: (0,), 1: (1,)})
    assert every.reversed() == Sketch("s", (2,), pattern="fully-connected")


WHOLE_NUMBER = "it must be a whole number,"
GPUS = "it must be a list of GPUs, [0, 1]"


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        (1, "", ", line 2: nnodes is missing"),
        (1, "nnodes: 0", f", line 1: nnodes is 0; {WHOLE_NUMBER} 1 or more"),
        (1, "nnodes: true", f", line 1: nnodes is True; {WHOLE_NUMBER} 1 or more"),
        (1, "nnodes: 2.5", f", line 1: nnodes is '2.5'; {WHOLE_NUMBER} 1 or more"),
        (1, "nnodes: []", f", line 1: nnodes is []; {WHOLE_NUMBER} 1 or more"),
        (1, "nnodes: [2, all]", f", line 1: nnodes is 'all'; {WHOLE_NUMBER} 1 or more"),
        (13, "nodes: 2", ", line 13: nodes is not a field of a sketch; did you mean nnodes?"),
        (
            13,
            "zebra: 2",
            ", line 13: zebra is not a field of a sketch; these are nnodes, intranode_sketch, "
            "internode_sketch, symmetry_offsets, hyperparameters, description",
        ),
        (
            3,
            "  strategie: none",
            "intranode_sketch.strategie is not a field of a sketch; did you me",
        ),
        (3, "", ", line 2: intranode_sketch.strategy is missing"),
        (
            3,
            "  strategy: ring",
            ", line 3: intranode_sketch.strategy is 'ring'; it must be one of none, switch, minmax",
        ),
        (3, "  strategy: [none]", "intranode_sketch.strategy is ['none']; it must be one of none"),
        (4, "", ", line 2: intranode_sketch.switches is missing"),
        (4, "  switches: 3", ", line 4: intranode_sketch.switches is 3; it must be a list of li"),
        (4, "  switches: []", ", line 4: intranode_sketch.switches is empty; list the GPUs of a"),
        (4, "  switches: [3]", f"intranode_sketch.switches is 3; {GPUS}"),
        (4, "  switches: [[]]", f"intranode_sketch.switches is []; {GPUS}"),
        (4, "  switches: [[0, -1]]", f"intranode_sketch.switches is -1; {WHOLE_NUMBER} 0 or more"),
        (4, "  switches: [[0, 0]]", "switches names a GPU twice: [0, 0]; name each once"),
        (4, "  switches: [[5]]", "intranode_sketch.switches has a switch with GPU 5 alone; take"),
        (4, "  switches: [[0, 1], [1, 2]]", "two switches that share some GPUs; they must share"),
        (5, "", ", line 2: intranode_sketch.switch_hyperedge_strategy is missing"),
        (
            5,
            "  switch_hyperedge_strategy: uc-min",
            ", line 5: intranode_sketch.switch_hyperedge_strategy is 'uc-min'; it must be a list "
            "of uc-min or uc-max, one a switch",
        ),
        (
            5,
            "  switch_hyperedge_strategy: [uc-min]",
            "has 1 for 2 switches; give each one",
        ),
        (
            5,
            "  switch_hyperedge_strategy: [uc-min, uc-mean]",
            "strategy has 'uc-mean'; it takes uc-min or uc-max",
        ),
        (
            5,
            "  switch_hyperedge_strategy: [uc-min, uc-max]",
            "strategy differs between switches; the objective has one for all of them",
        ),
        (7, "", ", line 6: internode_sketch.strategy is missing"),
        (
            7,
            "  strategy: switch",
            ", line 7: internode_sketch.strategy is 'switch'; it must be one of relay",
        ),
        (
            10,
            "  internode_con: 1",
            "internode_sketch.internode_con is not a field of a sketch; did you mean "
            "internode_conn?",
        ),
        (8, "", ", line 6: internode_sketch.internode_conn is missing"),
        (
            8,
            "  internode_conn: all",
            ", line 8: internode_sketch.internode_conn is 'all'; it must be one of direct-map, "
            "fully-connected",
        ),
        (
            8,
            "  internode_conn: {}",
            ", line 8: internode_sketch.internode_conn is empty; say who sends to whom, "
            '{"0": [1]}, or one of direct-map, fully-connected',
        ),
        (8, "  internode_conn: 5", ", line 8: internode_sketch.internode_conn is 5; it must hold"),
        (
            8,
            "  internode_conn: {a: [0]}",
            "internode_conn.a is not a GPU; write its number in the b",
        ),
        (8, '  internode_conn: {"-1": [0]}', "internode_conn.-1 is not a GPU; write its number in"),
        (
            8,
            '  internode_conn: {"1": [0], "01": [2]}',
            ", line 8: internode_sketch.internode_conn.01 is not a GPU; write its number in "
            "the box, "
            "such as 0",
        ),
        (8, "  internode_conn: {1: [0]}", ", line 8: the key 1 is not text; put it in quotes"),
        (8, '  internode_conn: {"1": 0}', f"internode_sketch.internode_conn.1 is 0; {GPUS}"),
        (8, '  internode_conn: {"1": []}', f"internode_sketch.internode_conn.1 is []; {GPUS}"),
        (8, '  internode_conn: {"1": [x]}', f"internode_conn.1 is 'x'; {WHOLE_NUMBER} 0 or more"),
        (8, '  internode_conn: {"1": [2, 2]}', "internode_conn.1 names a GPU twice: [2, 2]; name"),
        (
            8,
            '  internode_conn: {"1": [0], "3": [2, 4]}',
            ", line 8: internode_sketch.internode_conn has senders with different numbers of "
            "receivers; give each as many",
        ),
        (
            8,
            '  internode_conn: {"1": [0]}',
            ", line 9: internode_sketch.gpus_to_sender_rev_map has 3, which internode_conn "
            "does not let send; leave it out",
        ),
        (
            9,
            '  gpus_to_sender_rev_map: {"1": [0, 0]}',
            ", line 9: internode_sketch.gpus_to_sender_rev_map.1 names a GPU twice: [0, 0]; name",
        ),
        (9, "", ", line 10: internode_sketch.enforce_ordering is true without gpus_to_sender_rev"),
        (
            10,
            "  enforce_ordering: yes",
            ", line 10: internode_sketch.enforce_ordering is 'yes'; write true or false",
        ),
        (11, "", ", line 1: symmetry_offsets is missing"),
        (11, "symmetry_offsets: 2", ", line 11: symmetry_offsets is 2; it must be a list of [off"),
        (11, "symmetry_offsets: [2, 4]", "symmetry_offsets has 2; it takes pairs [offset, size]"),
        (11, "symmetry_offsets: [[2, 4, 8]]", "has [2, 4, 8]; it takes pairs [offset, size]"),
        (11, "symmetry_offsets: [[0, 4]]", f"symmetry_offsets is 0; {WHOLE_NUMBER} 1 or more"),
        (11, "symmetry_offsets: [[1, 1]]", f"symmetry_offsets is 1; {WHOLE_NUMBER} 2 or more"),
        (11, "symmetry_offsets: [[1, one]]", f"symmetry_offsets is 'one'; {WHOLE_NUMBER} 2 or mo"),
        (
            11,
            "symmetry_offsets: [[4, 4]]",
            ", line 11: symmetry_offsets has the offset 4 in a size of 4; it must be less",
        ),
        (12, "", ", line 1: hyperparameters is missing"),
        (12, "hyperparameters: 1", ", line 12: hyperparameters is 1; it must hold fields, `name:"),
        (12, "hyperparameters: {}", ", line 12: hyperparameters.input_chunkup is missing"),
        (
            12,
            "hyperparameters: {input_chunkup: 0}",
            f", line 12: hyperparameters.input_chunkup is 0; {WHOLE_NUMBER} 1 or more",
        ),
        (
            12,
            "hyperparameters: {input_chunkup: 1, input_chunks: 2}",
            ", line 12: hyperparameters.input_chunks is not a field of a sketch; did you "
            "mean input_c",
        ),
    ],
)
def test_errors_name_line_field_and_remedy(line: int, text: str, message: str) -> None:
    assert message in fault(changed(line, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": is None; it must hold fields, `name: value`"),
        ("- nnodes", ", line 1: is ['nnodes']; it must hold fields, `name: value`"),
        ("nnodes: 2\nintranode_sketch: none", ", line 2: intranode_sketch is 'none'; it must ho"),
        (LEAST.replace("1", "2", 1), ", line 1: internode_sketch is missing"),
        (LEAST + "internode_sketch: relay", ", line 5: internode_sketch is 'relay'; it must hol"),
    ],
)
def test_documents_without_fields_are_refused(text: str, message: str) -> None:
    assert message in fault(text)


def test_errors_of_json_name_the_file_and_the_field() -> None:
    data = {
        "nnodes": 1,
        "intranode_sketch": {**SWITCHES, "switches": [[0, 1], [2, 3]]},
        "symmetry_offsets": [],
        "hyperparameters": {"input_chunkup": 1},
    }
    with pytest.raises(InvalidParameterError) as caught:
        read_json(data)
    where = "sketch.json: intranode_sketch.switch_hyperedge_strategy"
    assert str(caught.value) == f"{where} has 1 for 2 switches; give each one"
