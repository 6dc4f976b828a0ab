"""Files, exporters and interpreters of runtimes, and execution. Imports nothing.

To read: ``transfer_pieces``, ``data_layout``, ``partition``, ``between_gpus`` and ``export_limits``
serve the exporters, and ``interpretation/`` the interpreters. ``msccl/``, ``mscclpp/``, ``goal``
and ``python_modules/`` are formats, listed in ``formats``. ``runtime_fit`` finds a variant of a
schedule that fits a runtime. ``scoring/`` compares any file with the optimum; ``execution/`` runs
schedules between processes. No interpreter imports an exporter.
"""
