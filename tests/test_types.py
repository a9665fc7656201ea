"""What editors read, in stubs, is what the package gives."""

import ast
import inspect
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

import keras_tagging
from keras_tagging import kinds
from keras_tagging.utils.named_models import Shipped

FOLDER = Path(keras_tagging.__file__).parent
STUBS = sorted(FOLDER.rglob("__init__.pyi"))

pytestmark = pytest.mark.one_backend


def package_of(stub):
    parts = stub.parent.relative_to(FOLDER.parent).parts
    return import_module(".".join(parts))


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.parent.name)
def test_a_stub_has_the_names_of_its_package(stub):
    package, names = package_of(stub), set()
    for node in ast.parse(stub.read_text()).body:
        if not isinstance(node, ast.ImportFrom):
            assert ast.unparse(node) == "__version__: str"
            continue
        for alias in node.names:
            # else it is no name of the package's own for a type checker
            assert alias.asname == alias.name
            place = import_module(f".{node.module or alias.name}", package.__name__)
            wanted = getattr(place, alias.name) if node.module else place
            assert getattr(package, alias.name) is wanted
            names.add(alias.name)
    assert names == set(dir(package))


def test_the_stub_of_the_package_has_all_rooms():
    rooms = {path.parent.name for path in FOLDER.glob("*/__init__.py")}
    assert rooms <= set(dir(keras_tagging))


def test_the_stub_of_build_tells_the_class_of_each_architecture():
    stub = ast.parse((FOLDER / "models" / "factory.pyi").read_text())
    keywords = [*inspect.signature(keras_tagging.build).parameters]
    lists = {x.targets[0].id: x.value for x in stub.body if isinstance(x, ast.Assign)}
    found = {}
    for function in (x for x in stub.body if isinstance(x, ast.FunctionDef)):
        given = function.args
        [name, *_] = args = [*given.args, *given.kwonlyargs, given.kwarg]
        assert [x.arg for x in args] == keywords
        literal = lists.get(ast.unparse(name.annotation), name.annotation)
        values = [x.value for x in ast.walk(literal) if isinstance(x, ast.Constant)]
        found |= dict.fromkeys(values, ast.unparse(function.returns))
    assert ast.unparse(name.annotation) == "str"  # the last: for any name
    assert found == {
        each.name: kind.at("model").__name__
        for kind, each_of in kinds.each("architectures")
        for each in each_of
    }


def test_shipped_models_are_known_by_name():
    models = FOLDER.parent.glob("models/*/pyproject.toml")
    assert sorted(get_args(Shipped)) == sorted(path.parent.name for path in models)
