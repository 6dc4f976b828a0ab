"""An experiment file as it is read and checked: the points that it stands for.

Read ``points`` (what one run is), ``document`` (a file as plain data), ``methods`` (what can be
named), ``schema`` (what may stand in a file), ``experiment`` (reading one). Imported by all other
packages of experiments but ``measures``; imports nothing here, so that a watchdog starts fast.
"""
