"""Mutation testing: the share of small faults put into the code that its tests notice.

``mutants`` makes the faults, ``swapping`` puts one into the running program, ``reach`` finds the
tests that run a line, ``session`` tries mutants in forks of one pytest session, ``restart`` in a
process of their own. ``native`` does the same for C++. ``areas`` names modules and their tests,
``table`` writes ``README.md`` from the stored results; ``__main__`` is the command.
"""
