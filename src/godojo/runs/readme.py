"""The text that every run's folder explains itself with."""

from collections.abc import Sequence

from godojo.errors import command
from godojo.runs.config import RunConfig


def readme(run: str, config: RunConfig) -> bytes:
    """`run` is how commands name the run: its id, or a path where it does not lie among the others."""
    rows: Sequence[tuple[str, str]] = [
        *((f"`policy_{role}.pt`", f"the newest policy of the {role}") for role in config.roles),
        ("`metrics.csv`", "one row an episode: when, where, how long, who won, rewards by term, against whom"),
        ("`updates.csv`", "one row an update: speed, losses, win rates, ratings"),
        ("`tensorboard/`", "the same figures as curves"),
        ("`ratings.json`", "how strong every policy and past self is"),
        ("`roles.json`", "who learns: `train`, `frozen` or `deterministic`; may be edited while training runs"),
        ("`snapshots/`", "policies at moments of training, listed in `snapshots.json`"),
        ("`checkpoints/`", "the newest three whole training states, with their hashes in `index.json`"),
        ("`charts/`", "curves as pictures, drawn at the end of training; `learning.png` has the whole story"),
        ("`config.json`", "the game, the learner and all their settings, the seed, the command"),
        ("`environment.json`", "versions and the machine, one entry for every stretch of training"),
    ]
    if config.learner == "sb3":
        rows = [
            *rows,
            ("`model.zip`, `best_model.zip`", "the same for Stable-Baselines3, with `*_normalize.pkl` beside"),
        ]
    files = "\n".join(f"| {name} | {meaning} |" for name, meaning in rows)
    text = f"""# {config.game}, learnt by {config.learner}

| file | what it is |
|---|---|
{files}

## How to go on

```
{command(f"train {config.game} --resume {run}")}
{command(f"eval {run}")}
{_against(run) if len(config.roles) > 1 else _alone(run)}"""
    return text.encode()


def _against(run: str) -> str:
    return f"""{command(f"eval {run} --opponent {run}@start")}
{command(f"league {run}")}
{command(f"watch {run}")}
{command(f"report {run}")}
{command(f"export {run}")}
```

The first goes on training from the newest checkpoint. The next three judge the newest policies: against scripted
opponents, against what the run began with, and against all its past selves. `watch` shows any moment of the training in
the browser, `report` puts everything into one page, and `export` writes the policies as files for games. `{run}@NAME`
is the snapshot of that name.
"""


def _alone(run: str) -> str:
    return f"""{command(f"eval {run}@start")}
{command(f"report {run}")}
{command(f"export {run}")}
```

The first goes on training from the newest checkpoint. The next two judge the newest policy, and the one it began
with. `report` puts everything into one page, and `export` writes the policy as a file for games. `{run}@NAME` is the
snapshot of that name.
"""
