"""Options of ``forestcoll export``."""

import inspect
from dataclasses import fields

from forestcoll.cli.runtime_files.exporting import export_schedule
from forestcoll.runtimes.formats import FORMATS

OTHER_NAMES = {
    "min_bytes": "least",
    "max_bytes": "most",
    "size_bytes": "size",
    "gamma_s_per_gb": "gamma",
    "alpha_us": "alpha",
    "prefix": "output",
}
"""Parameters of the command whose names differ from those of the options of formats."""


def test_the_command_has_all_options_of_all_formats() -> None:
    """An option that a format gains is of no use to the command line until it is listed."""
    named = {field.name for one in FORMATS.values() for field in fields(one.options)}
    parameters = inspect.signature(export_schedule).parameters
    assert {OTHER_NAMES.get(name, name) for name in named} <= set(parameters)
