"""`README.md` of a run's folder."""

from collections.abc import Sequence

from godojo.errors import command
from godojo.games.base import GAMES, SCENE_GAMES
from godojo.runs.config import RunConfig
from godojo.runs.snapshots import policy_file


def readme(run: str, config: RunConfig) -> bytes:
    """`run` is the name that commands take: an id or a path."""
    rows: Sequence[tuple[str, str]] = [
        *((f"`{policy_file(role)}`", f"the newest policy of the {role}") for role in config.roles),
        ("`metrics.csv`", "one row per episode: time, arena, length, winner, reward terms, opponent"),
        ("`updates.csv`", "one row per update: speed, losses, win rates, ratings"),
        (f"`{f'logs/{config.sb3_name}_N' if config.is_sb3 else 'tensorboard'}/`", "the same metrics for TensorBoard"),
        ("`ratings.json`", "ratings of every policy and past checkpoint"),
        ("`roles.json`", "the mode of each role: `train`, `frozen`, `deterministic` or `scene`; yours to edit"),
        ("`snapshots/`", "policies from moments of the training, listed in `snapshots.json`"),
        ("`checkpoints/`", "the newest three training states; numbered copies of the policies, `ROLE_UPDATE.pt`"),
        ("`charts/`", "learning curves, drawn at the end of training; start with `learning.png`"),
        ("`config.json`", "the game, the learner and all their settings, the seed, the command"),
        ("`environment.json`", "versions and the machine, one entry per stretch of training"),
    ]
    if config.is_sb3:
        rows = [
            *rows,
            ("`checkpoints/*_steps.zip`", "numbered models of Stable-Baselines3, VecNormalize statistics beside them"),
            ("`best_models/best_model.zip`", "the best of them in evaluation"),
        ]
    is_ours = config.game in GAMES
    plays_itself = is_ours and bool(GAMES[config.game].shared_score)
    files = "\n".join(f"| {name} | {meaning} |" for name, meaning in rows)
    text = f"""# {config.game}, trained by {config.learner}

| file | contents |
|---|---|
{files}

## Next steps

```
{command(f"train {config.game} --resume {run}" if is_ours or config.game in SCENE_GAMES else f"train --resume {run}")}
{command(f"eval {run}")}
{_against(run) if is_ours and (len(config.roles) > 1 or plays_itself) else _alone(run, is_ours=is_ours)}"""
    return text.encode()


def _against(run: str) -> str:
    return f"""{command(f"eval {run} --opponent {run}@start")}
{command(f"league {run}")}
{command(f"watch {run}")}
{command(f"report {run}")}
{command(f"export {run}")}
```

`train --resume` continues from the newest checkpoint. `eval` measures the newest policies against scripted opponents,
or against the run's first policies; `league` plays all snapshots against each other. `watch` shows any moment of the
training in the browser, `report` writes everything as one page, and `export` writes the policies as files for games.
`{run}@NAME` is the snapshot NAME.
"""


def _alone(run: str, *, is_ours: bool) -> str:
    return f"""{command(f"eval {run}@start" if is_ours else f"record {run}")}
{command(f"report {run}")}
{command(f"export {run}")}
```

`train --resume` continues from the newest checkpoint. `eval` measures the newest policy, or that of a snapshot.
`report` writes everything as one page, and `export` writes the policy as a file for games.
`{run}@NAME` is the snapshot NAME.
"""
