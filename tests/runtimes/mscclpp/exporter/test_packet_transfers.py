"""Actions on packets, of small schedules by hand."""

from forestcoll import Program
from forestcoll.runtimes.mscclpp.exporter.data_actions import Action, actions_of
from forestcoll.runtimes.mscclpp.exporter.packet_transfers import PacketTransfers, in_packets
from forestcoll.runtimes.mscclpp.exporter.port_transfers import Boxes
from forestcoll.runtimes.mscclpp.exporter.switch_pieces import through_switches
from forestcoll.runtimes.transfer_pieces import in_units, pieces_of
from forestcoll.schedule import Send
from tests.runtimes.mscclpp.exporter.made_plans import (
    actions,
    down,
    program,
    swap,
    there_and_back,
)


def made(of: Program, *boxes: int) -> PacketTransfers:
    """The program in packets; GPUs of different numbers are in different boxes."""
    _, layout = actions(of)
    ways = through_switches(in_units(pieces_of(of), layout.unit), of.topology)
    return in_packets(actions_of(ways, layout, packets=True), Boxes(boxes))


def kinds(transfers: PacketTransfers, gpu: int) -> list[str]:
    mine = [one for one in transfers.actions if one.gpu == gpu]
    return [one.kind for one in sorted(mine, key=lambda one: (one.level, one.kind))]


def test_packets_are_sent_on_as_they_came() -> None:
    """A broadcast from 0 over 1 to 2: GPU 1 unpacks what it also sends on."""
    found = made(down())
    assert kinds(found, 0) == ["copy", "ppkt"]
    assert kinds(found, 1) == ["rppkt", "upkt"]
    assert kinds(found, 2) == ["upkt"]
    assert {one.target for one in found.actions if one.kind in ("ppkt", "rppkt")} == found.slots
    assert all(need.gpu == one.gpu for one in found.actions for need in one.needs)


def test_a_sum_begins_with_what_is_no_packet() -> None:
    """GPU 0 adds what comes to its own part; GPU 1 gets the sum in packets."""
    found = made(there_and_back())
    assert kinds(found, 0) == ["repkt", "ppkt"]
    assert kinds(found, 1) == ["ppkt", "upkt"]
    sum_ = next(one for one in found.actions if one.kind == "repkt")
    assert [slot in found.slots for slot in sum_.sources] == [False, True]


def test_levels_count_what_flags_order() -> None:
    """The relay waits for level 0 of another GPU, though no dependency is left."""
    level = {(one.gpu, one.kind): one.level for one in made(down()).actions}
    assert level[0, "ppkt"] < level[1, "rppkt"] < level[2, "upkt"]


def test_data_for_another_box_are_packed_at_home_once() -> None:
    """A port channel moves what lies in scratch; two receivers get the same packets."""
    both = program("broadcast", 3, [Send(0, 0, 0, 1), Send(0, 0, 0, 2)], root=0)
    found = made(both, 0, 1, 2)
    assert kinds(found, 0) == ["copy", "cpkt", "rppkt", "rppkt"]
    packed = next(one for one in found.actions if one.kind == "cpkt")
    sent = [one for one in found.actions if one.kind == "rppkt"]
    assert all(one.sources == [packed.target] for one in sent)
    assert {packed.target} < found.slots
    assert packed.target.layer < 0
    assert all(packed.level < one.level for one in sent)


def test_a_sender_that_hears_nothing_is_greeted() -> None:
    """Of a swap nobody is, as each has packets of the other; of a broadcast every sender."""
    assert made(swap()).greeted == frozenset()
    assert made(down()).greeted == {(0, 1), (1, 2)}
    assert made(there_and_back()).greeted == frozenset()


def test_the_first_sender_waits_for_who_gets_its_packets_from_a_proxy() -> None:
    """GPU 1 has a proxy send 0's packets on to 2, after its own launch may have ended."""
    assert made(down(), 0, 0, 1).greeted == {(0, 1), (0, 2), (1, 2)}
    assert made(down(), 0, 1, 1).greeted == {(0, 1), (1, 2)}


def test_what_nobody_reads_is_not_sent() -> None:
    """GPU 1 gets the root's data twice, and uses the last."""
    twice = [Send(0, 0, 0, 1), Send(1, 0, 0, 1), Send(2, 0, 1, 2)]
    found = made(program("broadcast", 3, twice, root=0))
    assert kinds(found, 0) == ["copy", "ppkt"]


def test_every_put_has_a_reader_where_it_goes() -> None:
    found = made(down())
    assert {(put.gpu, reader.gpu) for put, reader in found.readers.items()} == {(0, 1), (1, 2)}
    assert all(put.target in reader.sources for put, reader in found.readers.items())
    assert all(isinstance(one, Action) for one in found.readers)
