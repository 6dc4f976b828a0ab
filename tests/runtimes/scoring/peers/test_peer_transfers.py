"""What a file says, read: who has all the data."""

from dataclasses import replace

from forestcoll.runtimes.scoring.peers.peer_transfers import PeerChunk, PeerTransfers


def test_a_collective_of_one_root_has_it_and_others_have_none() -> None:
    chunks = (PeerChunk(2, -1, "address 0"), PeerChunk(2, -1, "address 1"))
    broadcast = PeerTransfers("SCCL", "broadcast", (0, 1, 2), chunks, 1, 2, ())
    assert broadcast.root == 2
    assert replace(broadcast, collective="reduce").root == 2
    assert replace(broadcast, collective="allgather").root is None
