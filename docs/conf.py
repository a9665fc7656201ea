"""Sphinx configuration: `make docs` builds docs/_build/html."""

import configparser
import inspect
import os
import re
import shutil
from importlib.metadata import version as installed_version
from importlib.resources import files
from pathlib import Path

from docutils import nodes

os.environ.setdefault("KERAS_BACKEND", "tensorflow")

project = "keras_tagging"
author = "The keras_tagging authors"
copyright = f"2026, {author}"
version = release = installed_version("keras-tagging")
_HERE = Path(__file__).parent

# Pages write |repository| for its address, which the owner sets in setup.cfg.
_setup = configparser.ConfigParser()
_setup.read(_HERE.parent / "setup.cfg", "utf-8")
_address = _setup["metadata"].get("url", "URL-OF-THE-REPOSITORY")
rst_epilog = f".. |repository| replace:: {_address}"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinxcontrib.bibtex",
]
exclude_patterns = ["_build"]
# Docstrings write code in single backticks.
default_role = "code"
highlight_language = "python"

autodoc_default_options = {"members": True, "member-order": "bysource"}
# Otherwise methods that override Keras' get pages of Keras' own docstrings.
autodoc_inherit_docstrings = False
autodoc_typehints = "signature"
napoleon_numpy_docstring = False
napoleon_custom_sections = [
    ("Call arguments", "params_style"),
    ("Weights", "params_style"),
    "Departures",
]

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"

# Notebooks are shown as they are stored. Sphinx reads what lies in its own folder only.
nb_execution_mode = "off"
nb_merge_streams = True  # of the epochs of a training, each one output
nb_render_markdown_format = "myst"  # "commonmark", the default, has no tables
myst_enable_extensions = ["dollarmath"]
shutil.copytree(
    _HERE.parent / "notebooks",
    _HERE / "notebooks",
    ignore=shutil.ignore_patterns(".*"),
    dirs_exist_ok=True,
)

# Formulas are set without a network: one file of MathJax, fonts included, from the
# package django-static-mathjax, lies beside the pages.
mathjax_path = "tex-svg.js"
html_static_path = [
    "_static",
    str(files("mathjax") / "static/mathjax/es5" / mathjax_path),
]

html_theme = "furo"
html_css_files = ["pages.css"]
html_title = f"keras_tagging {version}"


def show_own_arguments(app, what, name, obj, options, signature, returns):
    """Gives classes the arguments of `__init__`, which Keras hides in `__new__`."""
    if what == "class" and signature == "(*args, **kwargs)":
        _, *parameters = inspect.signature(obj.__init__).parameters.values()
        return str(inspect.Signature(parameters)), returns
    return None


#: members of models that only those need who write a model of another kind
INTERNAL = """
    batch_loss batch_tokens batches batching build_from_config call command
    compile_from_config compute_loss compute_metrics count_labels counts dataset
    described encode evaluator from_config get_config gives known_words
    length_multiple make_predict_function outputs penalised predict_step
    predictions prepare_input prepared served_layers serving tagged tagger_class
    take_over targets
""".split()


def leave_out_inherited(app, what, name, obj, skip, options):
    """Keras' own documentation has those of Keras, and `SentenceModel` the internal."""
    if options.get("inherited-members") and name in INTERNAL:
        return True
    home = getattr(getattr(obj, "fget", obj), "__module__", None) or ""
    return True if home.startswith(("keras.", "tensorflow.")) else None


_PYTHON = "https://docs.python.org/3/library/{module}.html#{name}"
#: where names of other libraries are described; intersphinx would fetch inventories
ELSEWHERE = {
    "collections.abc": _PYTHON,
    "pathlib": _PYTHON,
    "numpy.ndarray": "https://numpy.org/doc/stable/reference/generated/{name}.html",
    "pandas.DataFrame": "https://pandas.pydata.org/docs/reference/api/{name}.html",
    "keras.Model": "https://keras.io/api/models/model/",
}


def link_elsewhere(app, env, node, content):
    """A link for a name of Python, NumPy, pandas or Keras that a signature has."""
    name = re.sub(r"^pd\.", "pandas.", node.get("reftarget", ""))
    module = name.rpartition(".")[0]
    address = ELSEWHERE.get(name) or ELSEWHERE.get(module)
    if node.get("refdomain") != "py" or address is None:
        return None
    address = address.format(module=module, name=name)
    return nodes.reference("", "", content, refuri=address, internal=False)


def keep_figures_whole(app, name, source):
    """A figure and its deviation stay on one line: no-break spaces around ±."""
    source[0] = source[0].replace(" ± ", "\u00a0±\u00a0")


def setup(app):
    app.connect("source-read", keep_figures_whole)
    app.connect("autodoc-process-signature", show_own_arguments)
    app.connect("autodoc-skip-member", leave_out_inherited)
    app.connect("missing-reference", link_elsewhere)
