"""How the documentation is built: `make docs`; a warning is an error."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

project = "elicit"
author = "the elicit contributors"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
nb_execution_mode = "off"  # notebooks hold what they showed when `make notebooks` ran them
html_theme = "furo"
html_title = "elicit"
exclude_patterns = ["_build", "jupyter_execute", "tutorial/*.py"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_typehints = "none"  # the docstrings say types with their shapes
autodoc_mock_imports = ["torch", "torchmetrics"]
autodoc_member_order = "bysource"
default_role = "literal"
