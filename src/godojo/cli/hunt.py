"""`godojo hunt` and `godojo reproduce`: finds bugs in a game, and replays them."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from godojo.cli.console import note, out, print_json, progress_report, say
from godojo.cli.signals import ending_on_sigterm, stopping
from godojo.errors import GodojoError, unknown

_TEAM, _FINDINGS, _DETECTORS = "Explorers", "Findings", "Detectors"
_NEVER = "never"


def hunt(
    game: Annotated[str | None, typer.Argument(help="A game of Godojo, such as menu.", metavar="GAME")] = None,
    project: Annotated[Path | None, typer.Option("--project", help="A Godot project.", metavar="DIR")] = None,
    binary: Annotated[Path | None, typer.Option("--binary", help="An exported game.", metavar="FILE")] = None,
    http: Annotated[
        str | None, typer.Option("--http", help="A running game with the HTTP API; see serve-game.", metavar="URL")
    ] = None,
    scene: Annotated[
        str | None, typer.Option("--scene", help="A scene of the project; defaults to its main one.", metavar="SCENE")
    ] = None,
    input_map: Annotated[
        bool, typer.Option("--input-map", help="Play the game's own input actions; it needs no agents then.")
    ] = False,
    minutes: Annotated[
        float | None, typer.Option("--minutes", help="How long, proofs included; defaults to 10.", metavar="N")
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option("--processes", help="Games that are played at once; defaults to 2.", metavar="N", min=1),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of games and explorers.", min=0)] = 0,
    folder: Annotated[Path | None, typer.Option("--out", help="Defaults to hunts/NAME-DATE.", metavar="DIR")] = None,
    resume: Annotated[Path | None, typer.Option("--resume", help="Continue this hunt.", metavar="DIR")] = None,
    against: Annotated[
        Path | None,
        typer.Option("--against", help="Compare with this hunt: new, still there, fixed.", metavar="DIR"),
    ] = None,
    fail_on: Annotated[
        str,
        typer.Option(
            "--fail-on",
            help="Exit with status 1 at a finding this bad: critical, major, minor or never.",
            metavar="LEVEL",
        ),
    ] = "major",
    explorers: Annotated[
        str | None,
        typer.Option(
            "--explorers",
            help="Of random, sticky, archive, novelty, seeker, ui, starts and policy; defaults to all that fit.",
            metavar="NAME,…",
            rich_help_panel=_TEAM,
        ),
    ] = None,
    policies: Annotated[
        list[str] | None,
        typer.Option(
            "--policy", help="A run or a policy file that explores, too.", metavar="RUN|FILE", rich_help_panel=_TEAM
        ),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="An exported variable of the scene's agents.", metavar="KEY=VALUE", rich_help_panel=_TEAM
        ),
    ] = None,
    reload_every: Annotated[
        int | None,
        typer.Option(
            "--reload-every", help="Start afresh after every N decisions.", metavar="N", min=1, rich_help_panel=_TEAM
        ),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            help="Hunt in a Ray cluster: HOST:PORT, auto or local (a new one).",
            metavar="ADDRESS",
            rich_help_panel=_TEAM,
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option("--workers", help="With --ray: hunts at once.", metavar="N", min=1, rich_help_panel=_TEAM)
    ] = 2,
    proofs: Annotated[
        int,
        typer.Option("--proofs", help="Replays of each finding.", metavar="N", min=1, rich_help_panel=_FINDINGS),
    ] = 5,
    shrink_s: Annotated[
        float | None,
        typer.Option(
            "--shrink",
            help="The most time for shrinking a finding; defaults to a tenth of the hunt, 10 to 60.",
            metavar="SECONDS",
            min=0.0,
            rich_help_panel=_FINDINGS,
        ),
    ] = None,
    clips: Annotated[
        bool,
        typer.Option("--clips/--no-clips", help="Film findings, where there is a display.", rich_help_panel=_FINDINGS),
    ] = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print findings as JSON, for programs.", rich_help_panel=_FINDINGS)
    ] = False,
    invariants: Annotated[
        list[str] | None,
        typer.Option(
            "--invariant",
            help="Your own check: a function of the state.",
            metavar="FILE.py:FUNCTION",
            rich_help_panel=_DETECTORS,
        ),
    ] = None,
    freeze_s: Annotated[
        float,
        typer.Option(
            "--freeze-after", help="No answer for so long is a freeze.", metavar="SECONDS", rich_help_panel=_DETECTORS
        ),
    ] = 10.0,
    detectors: Annotated[
        list[str] | None,
        typer.Option(
            "--detect", help="A setting of detectors: warnings=true.", metavar="KEY=VALUE", rich_help_panel=_DETECTORS
        ),
    ] = None,
) -> None:
    """Play a game to find out what breaks; prove, shrink and report it.

    A team of explorers plays the real engine. Every script error, crash, freeze, fall out of the world and more is
    replayed from its seed and actions, reduced to the fewest actions that make it happen, and saved with its log,
    a clip and the command that reproduces it. Ctrl-C stops early and keeps everything.

    Exits with status 0 without findings at or above --fail-on, with 1 otherwise, with 2 if the game cannot be hunted.

    Examples:

      godojo hunt menu --minutes 2
      godojo hunt --project path/to/project --input-map
      godojo hunt --binary build/game.x86_64 --against hunts/last-week --processes 4
      godojo reproduce findings/001 --window
    """
    from godojo.api.hunting import finish_hunt, hunt_on_ray, prepare_hunt
    from godojo.hunt.contract import SEVERITIES

    if fail_on not in (*SEVERITIES, _NEVER):
        raise unknown("level of --fail-on", fail_on, (*SEVERITIES, _NEVER))
    if not (game or project or binary or http or resume):
        raise GodojoError("name what to hunt in: a GAME, --project DIR, --binary FILE, --http URL, or --resume DIR")
    how: dict[str, Any] = {
        "game": game,
        "project": project,
        "binary": binary,
        "http": http,
        "scene": scene,
        "input_map": input_map,
        "options": _pairs("--set", values),
        "invariants": invariants or (),
        "minutes": minutes,
        "processes": processes,
        "explorers": tuple(name.strip() for name in explorers.split(",")) if explorers else (),
        "policies": policies or (),
        "seed": seed,
        "folder": folder,
        "resume": resume,
        "against": against,
        "detectors": {name: _value(text) for name, text in _pairs("--detect", detectors).items()},
        "proofs": proofs,
        "shrink_seconds": shrink_s,
        "freeze_s": freeze_s,
        "reload_every": reload_every,
        "clips": clips,
    }
    with progress_report() as shown:
        if ray is not None:
            outcome = hunt_on_ray(ray, workers, progress=shown.progress, **how)
        else:
            prepared = prepare_hunt(**how)
            with stopping(prepared, shown.say, "stopping; findings are kept"):
                prepared.run(shown.progress)
                outcome = finish_hunt(prepared, shown.progress)
    if as_json:
        print_json({"folder": str(outcome.folder), "findings": outcome.findings, "hunt": outcome.record})
    else:
        out.print(outcome)
        note(f"report: {outcome.folder / 'report.html'}")
    _annotate(outcome)
    fails = outcome.fails(None if fail_on == _NEVER else fail_on)  # type: ignore[arg-type]
    raise typer.Exit(1 if fails else 2 if outcome.record.trouble else 0)


def reproduce(
    finding: Annotated[
        str, typer.Argument(help="The folder of a finding; findings/001 is one of the newest hunt.", metavar="FINDING")
    ],
    window: Annotated[bool, typer.Option("--window", help="Let the game draw, to watch it happen.")] = False,
    times: Annotated[int, typer.Option("--times", help="How often to replay it.", metavar="N", min=1)] = 1,
    project: Annotated[
        Path | None, typer.Option("--project", help="Replay it in this copy of the project.", metavar="DIR")
    ] = None,
    binary: Annotated[Path | None, typer.Option("--binary", help="Replay it in this build.", metavar="FILE")] = None,
) -> None:
    """Replay a finding of `hunt` from its seed and minimal actions.

    Exits with status 0 if it happens again, with 1 if it does not.

    Examples:

      godojo reproduce findings/001
      godojo reproduce hunts/menu-20260101-120000/findings/001 --window
      godojo reproduce findings/001 --project path/to/fixed/project --times 20
    """
    from godojo.api.hunting import find_finding
    from godojo.hunt.reproduce import reproduce as replayed

    with progress_report() as shown, ending_on_sigterm():
        found, hits = replayed(
            find_finding(finding), times=times, window=window, project=project, binary=binary, progress=shown.step
        )
    say(f"{found.event.severity} {found.event.detector}: {found.event.message}")
    say(f"{'reproduced' if hits else 'not reproduced'} in {hits} of {times}, {found.minimal_actions} actions each")
    raise typer.Exit(0 if hits else 1)


def _annotate(outcome: Any) -> None:
    from godojo.hunt.texts import on_github

    if on_github():
        for line in outcome.annotations():
            typer.echo(line)


def _pairs(flag: str, given: list[str] | None) -> dict[str, str]:
    found = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise GodojoError(f"{flag} {text!r}: write it as KEY=VALUE")
        found[name.strip()] = value.strip()
    return found


def _value(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
