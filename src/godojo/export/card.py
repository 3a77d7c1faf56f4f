"""The model card: a page about exported policies: what they were trained on, how good they are, how to load them."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from godojo import __version__
from godojo.errors import command
from godojo.evaluation.evaluation import Evaluation, default_opponents, judge
from godojo.export.card_picture import draw
from godojo.export.players import SHIPPED
from godojo.export.ship import Progress, Shipped, Trained, gdscript_us, has_rivals
from godojo.files import atomic_write
from godojo.learn.policy_file import PolicyCard
from godojo.runs.folder import RunFolder
from godojo.runs.names import split_reference

CARD = "CARD.md"
PICTURE = "card.png"


def write_card(
    source: str,
    policies: Sequence[Trained],
    written: Sequence[Shipped],
    folder: Path,
    *,
    rounds: int = 500,
    progress: Progress | None = None,
) -> Path:
    """`CARD.md` and `card.png` beside the files; what is judged are the files themselves."""
    judged = _judged(written, rounds, progress) if has_rivals(policies[0].card) else {}
    pieces = [
        f"# {written[0].game}: {' and '.join(dict.fromkeys(one.role for one in written))}",
        _origin(source, policies),
        _files(written, policies),
    ]
    if judged:
        atomic_write(folder / PICTURE, draw(written, judged))
        pieces += [_results(judged), f"![A round from above, and rounds won]({PICTURE})"]
    pieces += [_layout(policies[0].card), _how_to_load(written)]
    page = folder / CARD
    atomic_write(page, ("\n\n".join(pieces) + "\n").encode())
    return page


def _judged(written: Sequence[Shipped], rounds: int, progress: Progress | None) -> dict[str, Evaluation]:
    """By path."""
    opponents = default_opponents(written[0].game, 1)
    return {one.path: judge(one.path, opponents, rounds=rounds, files=SHIPPED, progress=progress) for one in written}


def _origin(source: str, policies: Sequence[Trained]) -> str:
    card, name, made = policies[0].card, Path(source).name, []
    if not source.endswith((".pt", ".dojo")):
        run, snapshot = split_reference(source)
        folder = RunFolder.open(run)
        config, name = folder.config, folder.run_id + (f"@{snapshot}" if snapshot else "")
        budget = ", ".join(f"{value:g} {unit.replace('_', '-')}" for unit, value in config.budget.items())
        made.append(f"Learnt by {config.learner} on engine `{config.engine}`, seed {config.seed}, budget {budget}.")
        if config.command:
            # Without the folders of the machine that trained it.
            words = " ".join(Path(word).name if "/" in word or "\\" in word else word for word in config.command)
            made.append(f"Made by `{command(words)}`.")
    counts = sorted({one.card.agent_steps for one in policies})
    steps = " to ".join(f"{count:,}" for count in dict.fromkeys((counts[0], counts[-1])))
    lines = [
        f"Trained on **{card.game}** for {steps} agent-steps; exported by Godojo {__version__} from `{name}`.",
        *made,
    ]
    memory = f", {card.shape.memory_size} {card.shape.memory} cells of memory" if card.shape.memory else ", no memory"
    if card.shape.heading and (pairs := len(card.shape.heading.remembered)):
        memory += f" ({2 * pairs} of them turn with the agent)"
    widths = " and ".join(str(width) for width in card.shape.net_arch)
    if card.shape.images:
        stacks = ["-".join(str(layer.channels) for layer in image.convolutions) for image in card.shape.images]
        memory += f", convolutions with {' and '.join(stacks)} channels before them"
    frame = (
        "observes and acts in the agent's frame" if card.shape.heading else "observes and acts along the world's axes"
    )
    lines.append(f"The network has layers of {widths}{memory}, and {frame}.")
    return "\n".join(lines)


def _files(written: Sequence[Shipped], policies: Sequence[Trained]) -> str:
    shapes = {one.card.role: one.card.shape for one in policies}
    rows = [
        f"| `{Path(one.path).name}` | {one.role} | {one.bytes:,} | {one.weights:,} | {one.agent_steps:,}"
        f" | {gdscript_us(shapes[one.role]):.0f} µs | `{one.sha256[:16]}…` |"
        for one in written
    ]
    head = (
        "## Files\n\n| file | role | bytes | weights | agent-steps | matrices in GDScript | sha256 |\n"
        "|---|---|---|---|---|---|---|"
    )
    return "\n".join([head, *rows])


def _results(judged: dict[str, Evaluation]) -> str:
    first = next(iter(judged.values()))
    text = [
        "## Results",
        "",
        f"Rounds won of {first.rounds} against each scripted opponent, in arenas that training does not use (seed"
        f" {first.seed}); in brackets the 95 % interval.",
        "",
    ]
    names = [verdict.opponent for verdict in first.verdicts]
    text += [f"| file | role | {' | '.join(names)} |", "|---" * (len(names) + 2) + "|"]
    for path, found in judged.items():
        shares = [
            f"{100 * one.wins.rate:.1f} % ({100 * one.wins.low:.1f} to {100 * one.wins.high:.1f})" if one.wins else ""
            for one in found.verdicts
        ]
        text.append(f"| `{Path(path).name}` | {found.verdicts[0].role} | {' | '.join(shares)} |")
    return "\n".join(text)


def _layout(card: PolicyCard) -> str:
    rows, at = [], 0
    for part in card.observation_parts:
        shape = " x ".join(str(size) for size in part.shape)
        place = f"{at}" if part.size == 1 else f"{at} to {at + part.size - 1}"
        rows.append(f"| {place} | {part.name} | {shape} | {part.low:g} to {part.high:g} |")
        at += part.size
    done = []
    for action in card.shape.action_parts:
        several = "" if action.size == 1 else "s"
        what = f"number{several} from -1 to 1" if action.kind == "continuous" else f"choice{several}"
        done.append(f"| {action.name} | {action.size} {what} |")
    observed = f"## What it observes\n\n{at} numbers.\n\n| place | part | shape | about |\n|---|---|---|---|"
    settings = msgspec.json.format(msgspec.json.encode(card.settings), indent=2).decode()
    details = ("", "<details><summary>Settings of the game it was trained with</summary>", "")
    acted = ("", "## What it does", "", "| part | what |", "|---|---|", *done)
    return "\n".join([observed, *rows, *acted, *details, "```json", settings, "```", "", "</details>"])


def _how_to_load(written: Sequence[Shipped]) -> str:
    name, suffix = Path(written[0].path).name, Path(written[0].path).suffix
    judging = f"```\n{command(f'eval {name}')}\n```"
    if suffix == ".dojo":
        return (
            "## How to load it\n\n"
            f"In Godot, with the addon in the project (`{command('addon install PROJECT_DIR')}`): put `{name}` into the"
            " project and drop it on a `DojoAgent`; neither Python nor .NET is needed.\n"
            f"To judge it from Python:\n\n{judging}"
        )
    return (
        "## How to load it\n\n```python\nimport onnxruntime\n\n"
        f'session = onnxruntime.InferenceSession("{name}")\n'
        "print([(one.name, one.shape) for one in session.get_inputs()])\n```\n\n"
        "Feed `observation`, and, where there is a memory, `memory`: zeros at a round's start, then the last"
        f" `next_memory`; do `action`. To judge it:\n\n{judging}"
    )
