"""Trains the reference set of a game: frozen policies of several styles that `eval` plays against.

    python3 dojo.py run scripts/make_references.py --steps 5000000            all styles of tag
    python3 dojo.py run scripts/make_references.py --steps 5000000 --style hiding

The styles are in `styles.toml` of the game's folder `references`; the policies and `manifest.json` are written there.
A budget in agent-steps reproduces the policies bit-exactly. The shipped set used 5 million (three minutes in all).
"""

import argparse
import os
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import msgspec

import godojo
from godojo.errors import GodojoError, known
from godojo.evaluation.players import policies_of
from godojo.export.dojo_file import SUFFIX, write_dojo
from godojo.files import atomic_write
from godojo.games.base import game_named

STYLES, MANIFEST, ALL = "styles.toml", "manifest.json", "all"


class Style(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A section of `styles.toml`."""

    description: str
    seed: int
    times: int = 1
    settings: dict[str, Any] = {}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="tag")
    parser.add_argument("--steps", type=int, required=True, help="agent-steps of a training")
    parser.add_argument("--style", action="append", help="train this one only; may be given several times")
    wanted = parser.parse_args()
    try:
        make(wanted.game, wanted.steps, wanted.style)
    except GodojoError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def make(game: str, steps: int, only: list[str] | None = None) -> None:
    folder = game_named(game).references
    if folder is None:
        raise GodojoError(f"{game} has no folder of references (`Game.references`)")
    recipes = tomllib.loads((folder / STYLES).read_text("utf-8"))
    shared = recipes.pop(ALL, {})
    styles = msgspec.convert(recipes, dict[str, Style])
    path = folder / MANIFEST
    manifest: dict[str, Any] = msgspec.json.decode(path.read_bytes()) if path.is_file() else {}
    for name in only or styles:
        if name not in styles:
            raise GodojoError(f"there is no style {name!r}; {known(name, styles)}")
        manifest[name] = train(game, name, styles[name], shared, steps, folder)
        kept = {style: manifest[style] for style in styles if style in manifest}
        atomic_write(path, msgspec.json.format(msgspec.json.encode(kept), indent=2) + b"\n")


def train(game: str, name: str, style: Style, shared: dict[str, Any], steps: int, folder: Path) -> dict[str, Any]:
    """Trains a style, writes its policies and returns its entry of the manifest."""
    budget, settings = steps * style.times, shared | style.settings
    changed = " ".join(f"--set {key}={msgspec.json.encode(value).decode()}" for key, value in settings.items())
    command = f"python3 dojo.py train {game} --steps {budget} --seed {style.seed} {changed}"
    sys.stdout.write(f"{name}: {command}\n")
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as runs:
        os.environ["GODOJO_RUNS"] = runs
        run = godojo.train(game, steps=budget, seed=style.seed, settings=settings, run_id=name)
        trained = policies_of(str(run.path))
    for role, (policy, card) in trained.items():
        write_dojo(folder / f"{name}_{role}{SUFFIX}", policy, card)
    return {
        "description": style.description,
        "seed": style.seed,
        "command": command,
        "agent_steps": {role: card.agent_steps for role, (_, card) in trained.items()},
        "files": [f"{name}_{role}{SUFFIX}" for role in trained],
        "godojo": godojo.__version__,
    }


if __name__ == "__main__":
    sys.exit(main())
