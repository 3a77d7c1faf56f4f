"""Sets Godojo up for the scripts of this folder, if the Python that runs them does not have it.

Its syntax, and that of the scripts, is one that an older Python can read, so that `dojo.py` can look for a newer one.
"""

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def ensure_godojo(script: str) -> None:
    """Returns if Godojo is there; otherwise installs it into `.venv` and runs the script again with that."""
    if importlib.util.find_spec("godojo") is not None or Path(sys.prefix) == ROOT / ".venv":
        return
    sys.path.insert(0, str(ROOT))
    import dojo

    sys.exit(dojo.main(["run", str(Path(script).resolve()), *sys.argv[1:]]))
