"""All commands, with their line in the main help. A command's module is imported when it is called."""

import importlib
import inspect
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.exceptions import Abort

from godojo.errors import command

TRAIN, JUDGE, FILM = "Train and play", "Evaluate and watch", "Film"
SHIP, OWN_GAME, TOOLS = "Ship", "Your own game", "Tools"


class Verb(NamedTuple):
    """A command's code and its line in the main help."""

    place: str
    """`module:name` in `godojo.cli`: a function, or a `typer.Typer` with commands of its own."""
    panel: str
    help: str
    passes_options_on: bool = False
    """Whether unknown options belong to the game."""


VERBS = {
    "train": Verb("train:train", TRAIN, "Train policies for tag, navigation or your own game."),
    "config": Verb("config:app", TRAIN, "Print a training configuration as JSON, to edit and train with."),
    "play": Verb("play:play", TRAIN, "Play a game yourself against a trained opponent.", passes_options_on=True),
    "watch": Verb("watch:watch", JUDGE, "Watch a run in 3D in the browser, also while it trains."),
    "eval": Verb("eval:evaluate", JUDGE, "Measure win rates of policies, with 95 % confidence intervals."),
    "league": Verb("league:league", JUDGE, "Play a run's snapshots against each other and rate them."),
    "plot": Verb("plot:plot", JUDGE, "Draw learning curves, or compare runs."),
    "report": Verb("report:report", JUDGE, "Write a run's charts, results and replays as one HTML page."),
    "qa": Verb("qa:app", JUDGE, "Check trainings against thresholds, baselines and regressions, for CI."),
    "replay": Verb("replay:replay", JUDGE, "Record rounds as replay files, tick by tick."),
    "behaviours": Verb("behaviours:behaviours", JUDGE, "Count what agents do (juke, cut-off, hide, …), with clips."),
    "film": Verb("film:film", FILM, "Make the film of a training, from untrained to trained."),
    "record": Verb("record:record", FILM, "Film some rounds of a run's policies."),
    "encode": Verb("record:encode", FILM, "Encode the frames of `record --frames` as a film."),
    "export": Verb("export:export", SHIP, "Export policies as files for games: .dojo (pure GDScript) or ONNX."),
    "distil": Verb("distil:distil", SHIP, "Train a smaller network that imitates a policy, and measure the cost."),
    "check": Verb("check:check", OWN_GAME, "Play your game for some seconds and report what is wrong with it."),
    "hunt": Verb("hunt:hunt", OWN_GAME, "Play a game to find out what breaks; prove, shrink and report it."),
    "reproduce": Verb("hunt:reproduce", OWN_GAME, "Replay a finding of `hunt`."),
    "addon": Verb("addon:app", OWN_GAME, "Install the addon into your Godot project."),
    "twin": Verb("twin:app", OWN_GAME, "Compile your game for the embedded engine: a twin of its scene and scripts."),
    "serve": Verb("serve:serve", TRAIN, "Train live in the Godot editor, or play scenes that connect to port 8765."),
    "serve-game": Verb(
        "serve_game:serve_game", OWN_GAME, "Start a game that programs play over HTTP.", passes_options_on=True
    ),
    "doctor": Verb("doctor:doctor", TOOLS, "Check the installation."),
    "engine": Verb("engine:app", TOOLS, "Find, install, run and remove Godot."),
    "parity": Verb("parity:parity", TOOLS, "Compare the embedded twin with the real engine, tick by tick."),
    "bench": Verb("bench:app", TOOLS, "Measure speed on this machine."),
}


class VerbGroup(TyperGroup):
    """Lists all commands; imports a command's module only to run it or to show its help."""

    def __init__(self, **attrs: Any) -> None:
        super().__init__(**attrs)
        for name, verb in VERBS.items():
            self.add_command(TyperCommand(name, short_help=verb.help, rich_help_panel=verb.panel))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else load(name), rest

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as pressed:
            raise Abort from pressed  # Typer would exit silently


def load(name: str) -> Any:
    verb = VERBS[name]
    module, _, attribute = verb.place.partition(":")
    found = getattr(importlib.import_module(f"godojo.cli.{module}"), attribute)
    if isinstance(found, typer.Typer):
        app = found
    else:
        app = typer.Typer(add_completion=False)
        app.command(name, context_settings={"ignore_unknown_options": verb.passes_options_on})(found)
    app.info.name = name
    made = typer.main.get_command(app)
    for one in (made, *getattr(made, "commands", {}).values()):
        one.help = _reflowed(one.help or "")
        for option in one.params:
            if isinstance(option, TyperOption) and option.is_flag:
                option.metavar = ""  # rather than <bool>
    return made


def _reflowed(text: str) -> str:
    """Joins the lines of each paragraph, except in examples, which are indented."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(
        paragraph.replace("  godojo ", f"  {command('')}") if paragraph.startswith(" ") else " ".join(paragraph.split())
        for paragraph in paragraphs
    )
