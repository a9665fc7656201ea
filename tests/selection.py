"""Which tests run: by `--slow` those that CI leaves out, by `--each-value` fewer."""

import pytest

# Each multiplies settings of networks. Elsewhere a combination is a case of its own.
MULTIPLYING = tuple(f"tests/{x}/" for x in ("cells", "layers", "models", "onnx_files"))


def add_options(parser):
    parser.addoption(
        "--each-value",
        action="store_true",
        help="of each test of a network, run the first parameters that have each value",
    )
    parser.addoption(
        "--slow",
        action="store_true",
        help="run the tests marked slow, and with --each-value what that leaves out",
    )


@pytest.hookimpl(trylast=True)  # after those that a marker leaves out
def pytest_collection_modifyitems(config, items):
    left = {item for item in items if is_slow(item)}
    if config.getoption("--each-value"):
        left |= repeated_values([item for item in items if item not in left])
    if not config.getoption("--slow"):
        named = tuple(arg for arg in config.args if "::" in arg)
        left = {i for i in items if i not in left or i.nodeid.startswith(named)}
    config.hook.pytest_deselected(items=[i for i in items if i not in left])
    items[:] = [item for item in items if item in left]


def is_slow(item):
    """Marked `slow`, or `slow("jax")` where that is the backend."""
    marks = [mark.args for mark in item.iter_markers("slow")]
    return any(not args or backend() in args for args in marks)


def slow_but(kept, every):
    """Names as parameters of a test, of which those that are not kept are slow."""
    slow = pytest.mark.slow
    return [n if n in kept else pytest.param(n, marks=slow) for n in every]


def backend():
    import keras  # which takes seconds, and the tests of some rooms do without

    return keras.backend.backend()


def repeated_values(items):
    """All but the first tests that have each value of a parameter."""
    seen, left = set(), set()
    for item in items:
        if not item.nodeid.startswith(MULTIPLYING):
            continue
        params = item.callspec.params if hasattr(item, "callspec") else {}
        function = item.nodeid.partition("[")[0]
        values = {(function, name, str(params[name])) for name in params}
        if values and not values - seen:
            left.add(item)
        seen |= values
    return left
