"""Tenants in text: what is said, and what is refused."""

import pytest

from baselines.synthesizers.teccl.tenant_text import tenant_in
from baselines.synthesizers.teccl.tenants import Tenant
from forestcoll.errors import InvalidParameterError
from forestcoll.topology import load_topology

RING = load_topology("ring:nodes=4")


@pytest.mark.parametrize(
    ("text", "tenant"),
    [
        ("a", Tenant("a")),
        ("a:size=1KB,chunks=3", Tenant("a", size_bytes=1024, chunks=3)),
        (
            "b-1:collective=broadcast,root=gpu2,priority=-1",
            Tenant("b-1", "broadcast", root="gpu2", priority=-1),
        ),
        ("c:root=2,group=gpu1+gpu2", Tenant("c", root=2, group=("gpu1", "gpu2"))),
        (
            "d:priority=2,demand=zipf:seed=1,size=1KB",
            Tenant("d", priority=2, demand="zipf:seed=1,size=1KB"),
        ),
    ],
)
def test_a_tenant_is_read(text: str, tenant: Tenant) -> None:
    assert tenant_in(text, RING) == tenant


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no name"),
        ("a/b:size=1", "has no name"),
        ("a:what=1", "'what' is not a key"),
        ("a:size", "'size' is not a key"),
        ("a:size=1,size=2", "'size' is not a key, or is given twice"),
        ("a:size=1 GB/s", "size"),
        ("a:chunks=two", "chunks is 'two'; give a whole number"),
        ("a:priority=1234567", "priority is '1234567'"),
        ("a:group=", "group is empty"),
        ("a:size=1KB,demand=zipf", "size is given with a demand"),
    ],
)
def test_invalid_tenants_are_refused(text: str, words: str) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        tenant_in(text, RING)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
