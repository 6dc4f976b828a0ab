"""Sphinx extensions of the documentation site.

``math_as_mathml`` formulas; ``generated_pages`` navigation and what is made at build time
(``command_pages``, ``python_pages``, ``gallery_pages``); ``code_pages`` links to the code.
"""
