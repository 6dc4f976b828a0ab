"""All-to-alls on grids with a dead link: which bound to aim at, and over which links.

To read: ``halfway_cut`` (the bound of the cuts halfway between neighbours), ``dimension_order``
(links on paths that go along one dimension first). Both only make the linear program smaller;
:mod:`forestcoll.all_to_all.linear_optimum` decides whether it attains the bound.
"""
