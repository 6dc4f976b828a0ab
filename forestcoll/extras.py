"""Packages that an ordinary installation leaves out, and the extra that brings each.

What ``import forestcoll``, optima, schedules, their proofs and files need is always installed.
"""

from __future__ import annotations

from forestcoll.errors import MissingPackageError

__all__ = ["EXTRAS", "missing"]

EXTRAS = {
    "cvxpy": "lp",
    "ortools": "lp",
    "jinja2": "experiments",
    "matplotlib": "experiments",
    "pandas": "experiments",
    "plotly": "experiments",
    "pyarrow": "experiments",
    "ipywidgets": "notebooks",
    "distributed": "dask",
    "mpi4py": "exec",
}
"""The extra of each package, by the name that Python imports."""


def missing(error: ModuleNotFoundError, what: str = "this") -> MissingPackageError | None:
    """Return the error for a package that an extra would bring; None for any other module.

    Parameters
    ----------
    error : ModuleNotFoundError
    what : str
        Who needs the package, as the subject of the message.

    Examples
    --------
    >>> print(missing(ModuleNotFoundError(name="ortools.sat"), "sccl"))
    sccl needs the package ortools; install it with: pip install 'forestcoll[lp]'
    """
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return None
    return MissingPackageError(
        f"{what} needs the package {package}; "
        f"install it with: pip install 'forestcoll[{EXTRAS[package]}]'"
    )
