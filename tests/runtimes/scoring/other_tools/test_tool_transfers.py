"""What a file says, read: who has all the data."""

from dataclasses import replace

from forestcoll.runtimes.scoring.other_tools.tool_transfers import ToolChunk, ToolTransfers


def test_a_collective_of_one_root_has_it_and_others_have_none() -> None:
    chunks = (ToolChunk(2, -1, "address 0"), ToolChunk(2, -1, "address 1"))
    broadcast = ToolTransfers("SCCL", "broadcast", (0, 1, 2), chunks, 1, 2, ())
    assert broadcast.root == 2
    assert replace(broadcast, collective="reduce").root == 2
    assert replace(broadcast, collective="allgather").root is None
