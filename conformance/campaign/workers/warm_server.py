"""Warms up the server process from which workers are forked; to be imported by that process and nobody else.

Whatever is done here is done once, for all workers of all pools. The pool says in the environment for which backends.
"""

import os

from conformance.campaign.workers.warm_up import VARIABLE, prepare_server

prepare_server(tuple(filter(None, os.environ.get(VARIABLE, "").split(","))))
