"""Projects of Django that its own runner tests, `manage.py test`: pytest runs the same tests, by its plugin
for Django.
"""

import re
from collections.abc import Collection

from agentforge.languages.python.project import PythonProject

PLUGIN = "pytest-django"
FILES = "python_files=test*.py"
"""The files in which Django's own runner looks for tests."""
_SETTINGS = re.compile(r"""["']DJANGO_SETTINGS_MODULE["']\s*,\s*["']([A-Za-z_][\w.]*)["']""")


def settings_module(project: PythonProject, brought: Collection[str]) -> str:
    """The settings that `manage.py` names, where nothing that the project brings runs its tests by pytest;
    else empty.
    """
    if any(name == "pytest" or name.startswith("pytest-") for name in brought):
        return ""
    places = sorted(
        (path for path in project.paths if path == "manage.py" or path.endswith("/manage.py")),
        key=lambda path: (path.count("/"), path),
    )
    found = _SETTINGS.search(project.text(places[0])) if places else None
    return found[1] if found else ""
