"""Ray on this machine, for the tests of a module."""

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

TOKEN = uuid4().hex  # a process reads it once; without one Ray keeps its own in ~/.ray


@contextmanager
def cluster():
    """Ray with two CPUs, apart from every other cluster of this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_TOKEN", TOKEN)
        # Ray gives its own processes 15 seconds to import what they need: with compiled
        # files the second attempt, and the next cluster, are quicker than the first
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
        patch.setenv("PYTHONPATH", path)
        from keras_tagging.scale.dataset import imported_ray

        ray = imported_ray()
        # a process that would read the logs
        patch.setattr("ray._private.node.Node.start_log_monitor", lambda node: None)
        for attempt in range(3):
            try:
                # "local": else it joins the cluster that another test process started
                ray.init(
                    "local", num_cpus=2, include_dashboard=False, log_to_driver=False
                )
                break
            except Exception:
                ray.shutdown()
                if attempt == 2:
                    raise
        try:
            yield ray
        finally:
            ray.shutdown()
