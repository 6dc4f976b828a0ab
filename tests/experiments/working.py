"""Points worked in this process."""

from experiments.config.points import Job
from experiments.run.worker import work

SPEC = "dgx_a100:boxes=2"


def columns(method: str, collective: str, **more: object) -> dict[str, object]:
    """Run a point on :data:`SPEC` in this process and gather its events."""
    job: Job = {
        "source": SPEC,
        "collective": collective,
        "method": method,
        "parameters": {},
        "seconds": 60.0,
        **more,  # type: ignore[typeddict-item]
    }
    found: dict[str, object] = {}
    work(job, lambda event: found.update(event.get("fields", {})))
    return found
