"""Ray, started in one way for all that uses it."""

import logging
import os

from keras_tagging.utils.startup import silenced

INSTALL = "Ray is not installed: pip install 'keras-tagging[ray]'"


def imported_ray():
    """The package `ray` with `ray.data`.

    Raises:
        ImportError: if they are not installed; the message says how to.
    """
    # of Ray's own core: what concerns a user comes as an exception
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
        import ray.data
    except ImportError:
        raise ImportError(INSTALL) from None
    return ray


def start(ray, address: str | None = None, cpus: int | None = None) -> bool:
    """Connect to a cluster or start one, unless this process has one already.

    Args:
        ray: the package.
        address: of the cluster; None for that of the environment variable RAY_ADDRESS.
        cpus: of a cluster for this process alone, where there is no address. None to
            join one that was started on this machine, or else start one on its cores.

    Returns:
        Whether this call did it, so that `ray.shutdown` is the caller's.

    Raises:
        OSError: if the cluster cannot be reached or started.
    """
    if ray.is_initialized():
        return False
    address = address or os.environ.get("RAY_ADDRESS")
    options: dict = {"address": address}
    if not address:
        options["include_dashboard"] = False
        if cpus is not None:
            options |= {"address": "local", "num_cpus": cpus}
    try:
        with silenced():  # its core tells that it was told to be quiet
            ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
    except Exception as error:  # Ray has no class for errors when it starts
        reason = " ".join(str(error).strip().partition("\n")[0].split())[:200]
        remedy = (
            "see ray status; name another cluster with RAY_ADDRESS, or none to start "
            "one here"
            if address
            else "try again when the machine has less to do, or start it with `ray "
            "start --head` and set RAY_ADDRESS to auto"
        )
        what = f"no Ray cluster at {address}" if address else "Ray could not be started"
        raise OSError(f"{what} ({reason}): {remedy}") from error
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    return True
