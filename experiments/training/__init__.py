"""Models of training: what an iteration costs, and how much of its communication is visible.

To read: ``timeline`` (two streams of a GPU), ``parallelism`` (the collectives of data parallel,
expert parallel and sharded training), ``known_models`` (layers of published models),
``layer_file`` (one's own layers), ``communication`` (seconds of a collective on a network),
``iteration`` (all of it), ``training_settings`` (of an experiment), ``measured_times`` (a fit to
measurements).
"""
