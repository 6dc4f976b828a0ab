"""Several files to one network."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.import_files import import_files
from forestcoll.topology.importers.link_rates import rate_table
from forestcoll.topology.importers.supplied import MissingFactError, Supplied
from forestcoll.topology.model import NodeKind
from tests.topology.importers.nccl_dumps import bridge, cpu, gpu, nic, system
from tests.topology.importers.small_files import DOT, NVLINKS, ROCM, TOPO_SWITCHED

PAIR = ({"gpu1": 1}, {"gpu0": 1})
DUMP = system(cpu(0, *(bridge(f"b{i}", gpu(i, PAIR[i]), nic(i)) for i in range(2))))
FABRIC = "switches: [leaf]\nports: [{switch: leaf, machine: '*'}]\n"
RATES = rate_table("nominal")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    made = {}
    for name, text in (("a.xml", DUMP), ("b.xml", DUMP), ("net.yaml", FABRIC), ("m.yaml", FABRIC)):
        made[name] = tmp_path / name
        made[name].write_text(text, encoding="utf-8")
    return made


def names(files: list[tuple[str | None, Path]], *options: object) -> list[str]:
    made = import_files(files, options[0] if options else None, RATES, *options[1:])  # type: ignore[arg-type]
    return [node.name for node in made.topology.nodes if node.kind is NodeKind.COMPUTE]


def test_a_machine_has_the_name_of_its_file_or_the_given_one(files: dict[str, Path]) -> None:
    a, b = files["a.xml"], files["b.xml"]
    assert names([(None, a)]) == ["node.gpu0", "node.gpu1"]
    assert names([(None, a), ("x", b)], "rails") == ["a.gpu0", "a.gpu1", "x.gpu0", "x.gpu1"]


def test_the_fabric_is_one_of_the_files_or_given_apart(files: dict[str, Path]) -> None:
    a, b, net = files["a.xml"], files["b.xml"], files["net.yaml"]
    together = import_files([(None, a), (None, net), (None, b)], None, RATES)
    apart = import_files([(None, a), (None, b)], net, RATES)
    assert together == apart
    assert "leaf" in [node.name for node in apart.topology.nodes]


def test_one_dump_stands_for_equal_machines(files: dict[str, Path]) -> None:
    found = names([("n", files["a.xml"])], "rails", "*", 3)
    assert found == [f"n{box}.gpu{i}" for box in range(3) for i in range(2)]


def test_a_note_of_equal_machines_stands_once(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(DUMP.replace('count="1"', 'count="2"', 1), encoding="utf-8")
    made = import_files([(None, path)], "rails", RATES, "*", 3)
    assert made.notes == ("node0: gpu0 and gpu1 count different links to each other.",)


@pytest.mark.parametrize(
    ("given", "fabric", "machines", "message"),
    [
        (["net.yaml"], None, 1, "net.yaml: has switches and no GPUs; add a dump of each machine"),
        (["a.xml", "net.yaml", "m.yaml"], None, 1, "m.yaml: is a second fabric; give one file"),
        (["a.xml", "net.yaml"], "rails", 1, "net.yaml: is a second fabric; give one file"),
        (["a.xml", "b.xml"], "rails", 4, "--machines 4 is for one dump, and 2 are given;"),
        (["none.xml"], None, 1, "none.xml: cannot be read"),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    given: list[str], fabric: str | None, machines: int, message: str, files: dict[str, Path],
    tmp_path: Path,
) -> None:  # fmt: skip
    paths = [(None, files.get(name, tmp_path / name)) for name in given]
    with pytest.raises(InvalidTopologyError, match=re.escape(message)):
        import_files(paths, fabric, RATES, "*", machines)


def smi(tmp_path: Path, **texts: str) -> dict[str, Path]:
    made = {}
    for name, text in texts.items():
        made[name] = tmp_path / f"{name}.txt"
        made[name].write_text(text, encoding="utf-8")
    return made


def test_two_outputs_of_one_machine_are_joined_by_its_name(tmp_path: Path) -> None:
    """Alone they need no name; of two machines each has both files."""
    at = smi(tmp_path, topo=TOPO_SWITCHED, links=NVLINKS)
    alone = import_files([(None, at["topo"]), (None, at["links"])], None, RATES)
    assert alone.topology.num_compute == 4
    both = [(name, at[kind]) for name in ("a", "b") for kind in ("topo", "links")]
    made = import_files(both, "rails", RATES, supplied=Supplied(nic_gb_s=Fraction(50)))
    assert [node.name for node in made.topology.nodes[:5:4]] == ["a.gpu0", "a.nvswitch0"]
    assert made.topology.num_compute == 8


def test_options_without_effect_are_listed(tmp_path: Path) -> None:
    """Two machines and rails use the speed and the choice of NICs; a whole network uses nothing."""
    at = smi(tmp_path, topo=TOPO_SWITCHED, dot=DOT)
    given = Supplied(gpu="sm_90", nic_gb_s=Fraction(50), uplink_gb_s=Fraction(50))
    both = [("a", at["topo"]), ("b", at["topo"])]
    made = import_files(both, "rails", RATES, "mlx5_*", 1, given, "mine")
    assert (made.topology.name, made.unused) == ("mine", ("--uplink",))
    given = Supplied(gpu="sm_90", uplink_gb_s=Fraction(50))
    whole = import_files([(None, at["dot"])], nics="mlx5_*", supplied=given)
    assert whole.unused == ("--nics", "--gpu", "--uplink")
    alone = import_files([(None, at["topo"])], None, RATES, "mlx5_*", 1, given)
    assert alone.unused == ("--nics", "--uplink")


def test_a_list_of_links_alone_is_refused(tmp_path: Path) -> None:
    at = smi(tmp_path, topo=TOPO_SWITCHED, links=NVLINKS)
    with pytest.raises(InvalidTopologyError, match=r"links\.txt: lists NVLinks and not where they"):
        import_files([("n", at["links"])], None, RATES)
    with pytest.raises(InvalidTopologyError, match="lists NVLinks and not where they lead to"):
        import_files([("a", at["topo"]), ("b", at["links"]), ("c", at["links"])], None, RATES,
                     supplied=Supplied(gpu="sm_90"))  # fmt: skip


def test_a_whole_network_stands_alone(tmp_path: Path) -> None:
    at = smi(tmp_path, dot=DOT, topo=TOPO_SWITCHED)
    assert import_files([(None, at["dot"])]).topology.name == "two GPUs"
    at["dot"].write_text(DOT.replace('"two GPUs"', ""), encoding="utf-8")
    assert import_files([(None, at["dot"])]).topology.name == "dot"
    assert import_files([("mine", at["dot"])]).topology.name == "mine"
    with pytest.raises(InvalidTopologyError, match="is a whole network; import it without other"):
        import_files([(None, at["dot"]), (None, at["topo"])])
    with pytest.raises(InvalidTopologyError, match=r"dot\.txt: is a whole .*--machines 4 is"):
        import_files([(None, at["dot"])], machines=4)


def missing(
    paths: list[tuple[str | None, Path]], given: dict[str, str], fabric: str | None = None
) -> str:
    """Return what follows the first missing fact."""
    rates = rate_table(given["rates"]) if "rates" in given else None
    with pytest.raises(MissingFactError) as caught:
        import_files(paths, fabric, rates, supplied=Supplied(gpu=given.get("gpu")))
    return str(caught.value).partition(", also missing: ")[2]


def test_all_missing_facts_are_named_at_once(tmp_path: Path) -> None:
    """Outputs of nvidia-smi of two machines lack four facts; those that are given are not asked."""
    at = smi(tmp_path, topo=TOPO_SWITCHED)
    both: list[tuple[str | None, Path]] = [("a", at["topo"]), ("b", at["topo"])]
    assert missing(both, {}) == "--rates, --fabric, --nic-speed"
    assert missing(both, {"gpu": "sm_90"}) == "--fabric, --nic-speed"
    assert missing(both, {"gpu": "sm_90", "rates": "nominal"}) == "--nic-speed"
    assert missing(both, {"rates": "nominal"}, "rails") == "--nic-speed"
    assert missing(both, {"gpu": "sm_90", "rates": "nominal"}, "rails") == ""
    shared = smi(tmp_path, shared=re.sub(r"\b(NODE|SYS|PHB)\b", "PIX", TOPO_SWITCHED))["shared"]
    assert missing([("a", shared), ("b", shared)], {}) == "--rates, --fabric, --nic-speed"


def test_nothing_is_missing_beyond_errors_of_other_kinds(tmp_path: Path) -> None:
    """A tree of switches lacks the machines, too, which no option supplies."""
    conf = "SwitchName=l0 Nodes=a\nSwitchName=l1 Nodes=b\nSwitchName=s Switches=l[0-1]\n"
    at = smi(tmp_path, rocm=ROCM, conf=conf)
    assert missing([(None, at["rocm"])], {}) == "--rates"
    assert missing([(None, at["conf"])], {}) == ""
