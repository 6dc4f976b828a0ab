"""Sphinx configuration of the documentation site; ``make docs`` builds it into build/site.

The source folder is the clone, so that links between README, docs, notebooks and results are the
same in the site and on a host that shows Markdown.
"""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "ForestColl toolkit"
author = "The ForestColl toolkit authors"
release = version = installed_version("forestcoll")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "numpydoc",
    "site_extensions.math_as_mathml",
    "site_extensions.generated_pages",
    "site_extensions.code_pages",
]
root_doc = "docs/index"
include_patterns = [
    "docs/**.md",
    "notebooks/*.ipynb",
    "notebooks/README.md",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "experiments/published/README.md",
    "benchmarks/mutation/README.md",
]
exclude_patterns = ["docs/site_extensions", "**/.ipynb_checkpoints", "[.]*", "build", "recomputed"]

smartquotes = False  # options keep their dashes, shells their quotes

# Markdown as code hosts read it; anchors of headings as they make them.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
myst_all_links_external = False

# Notebooks show their stored output. Nothing comes from another host.
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, dict[str, str]] = {}
nb_merge_streams = True

autodoc_typehints = "none"  # docstrings name the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "furo"
html_title = "ForestColl toolkit"
html_show_sourcelink = False
html_show_copyright = False
html_copy_source = False
html_static_path = ["site_extensions/static"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
