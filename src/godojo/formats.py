"""Versions of all file formats, and migrations from older ones.

To rename, drop or reinterpret a field, append a function to its format's migrations. The version increases,
older files are migrated when they are read, and newer ones are refused. A new field needs no migration if its default
keeps the old behaviour.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any

from godojo.errors import GodojoError

Tree = dict[str, Any]
Migration = Callable[[Tree], None]
"""Changes a file's content in place, from one version to the next."""


class NewerVersion(GodojoError):
    """A file that a newer Godojo wrote."""


class Format:
    """A kind of file. The first N migrations turn version 1 into version N + 1."""

    def __init__(self, name: str, *migrations: Migration, hashed_since: int = 2) -> None:
        self.name, self.migrations, self._hashed_since = name, migrations, hashed_since

    @property
    def version(self) -> int:
        """The current version."""
        return len(self.migrations) + 1

    @property
    def tag(self) -> str:
        """Format and version, as files name them."""
        return f"{self.name}/{self.version}"

    def tag_for(self, *, is_plain: bool) -> str:
        """The tag of a policy: `is_plain` is one without images and with ReLU layers only, which older readers take."""
        return f"{self.name}/{self.version_for(is_plain=is_plain)}"

    def version_for(self, *, is_plain: bool) -> int:
        return self.migrations.index(_images_added) + 1 if is_plain else self.version

    def version_of(self, tag: object, source: object) -> int:
        """The version in a file's tag; refuses newer versions and other formats. No tag is version 1."""
        if tag is None:
            return 1
        name, _, number = str(tag)[:80].partition("/")
        if name != self.name or not number.isdecimal() or int(number) < 1:
            raise GodojoError(f"{source} is no {self.name} file: its format is {str(tag)[:80]!r}, not {self.tag!r}")
        self.refuse_newer(int(number), source)
        return int(number)

    def refuse_newer(self, version: int, source: object) -> None:
        if version > self.version:
            raise NewerVersion(
                f"{source} was written by a newer Godojo ({self.name}/{version}; this one reads up to "
                f"{self.tag}): update Godojo"
            )

    def is_hashed(self, version: int) -> bool:
        """Whether files of this version carry a hash, so that one without is damaged."""
        return version >= self._hashed_since

    def migrate(self, tree: Tree, version: int) -> Tree:
        """Migrates a file's content, in place, to the current version."""
        for migration in self.migrations[version - 1 :]:
            migration(tree)
        return tree


def rename(branch: Any, **names: str) -> None:
    """For migrations: renames fields, `rename(tree["learner_settings"], hidden="net_arch")`."""
    if isinstance(branch, dict):
        for old, new in names.items():
            if old in branch:
                branch[new] = branch.pop(old)


def branches(tree: Any, *path: str) -> list[Any]:
    """For migrations: the branches at a path, if any; `*` matches every key or item."""
    found = [tree]
    for name in path:
        following: list[Any] = []
        for branch in found:
            if name == "*" and isinstance(branch, dict | list):
                following += branch.values() if isinstance(branch, dict) else branch
            elif isinstance(branch, dict) and name in branch:
                following.append(branch[name])
        found = following
    return found


def rename_layers(weights: Any, **names: str) -> None:
    """For migrations: renames modules in the keys of a `state_dict`; keeps their order."""
    if isinstance(weights, dict):
        entries = list(weights.items())
        weights.clear()
        for key, value in entries:
            weights[".".join(names.get(part, part) for part in str(key).split("."))] = value


def renamed_settings(game: str, values: Tree) -> Tree:
    """A game's settings by their current names; old names are never reused."""
    found = copy.deepcopy(values)
    for (section, old), (target, new) in SETTINGS.get(game, {}).items():
        branch = found.get(section)
        if isinstance(branch, dict) and old in branch:
            found.setdefault(target, {})[new] = branch.pop(old)
    return found


def renamed_columns(columns: list[str]) -> list[str]:
    """The columns of `updates.csv` by their current names; tables have no version, so old names are never reused."""
    if columns[:1] != ["update"]:
        return columns
    names = COLUMNS | (SAC_COLUMNS if any(column.endswith("_temperature") for column in columns) else {})
    return [_renamed(column, names) for column in columns]


def _renamed(column: str, names: Mapping[str, str]) -> str:
    if "/" in column:
        return column
    for old in sorted(names, key=len, reverse=True):  # `value_loss` before `loss`
        if column.endswith(f"_{old}"):  # `seeker_divergence` was the seeker's `divergence`
            return f"{column.removesuffix(f'_{old}')}/{names[old]}"
    for infix, tag in (("_reward_", "rollout/reward_"), ("_judged_", "eval/")):
        role, found, name = column.partition(infix)
        if found:
            return f"{role}/{tag}{name}"
    return GLOBAL_COLUMNS.get(column, column)


def _hash_added(tree: Tree) -> None:
    """From here on files carry a hash; their content does not change."""


def _teams_added(tree: Tree) -> None:
    """Layout, teams and the length of a round are in the header, or filled in by the game; agents have a team."""


def _as_npz(tree: Tree) -> None:
    """From here on packed rounds are a standard `.npz`."""


LEARNER_SETTINGS: dict[str, dict[str, str]] = {
    "ppo": {
        "worlds": "num_worlds",
        "steps": "n_steps",
        "epochs": "n_epochs",
        "minibatches": "n_minibatches",
        "clip": "clip_range",
        "entropy_weight": "ent_coef",
        "value_weight": "vf_coef",
        "max_gradient": "max_grad_norm",
        "hidden": "net_arch",
        "own_frame": "egocentric",
        "turning": "egocentric_memory_size",
        "past_share": "past_opponent_fraction",
        "sparring": "scripted_opponents",
        "sparring_share": "scripted_opponent_fraction",
        "past_selves": "pool_size",
        "snapshot_updates": "snapshot_interval",
        "redraw_updates": "opponent_resample_interval",
    },
    "sac": {
        "worlds": "num_worlds",
        "steps": "n_steps",
        "replay": "buffer_size",
        "warm_up": "learning_starts",
        "batch": "batch_size",
        "target_share": "tau",
        "temperature": "ent_coef",
        "entropy_target": "target_entropy",
        "max_gradient": "max_grad_norm",
        "hidden": "net_arch",
        "own_frame": "egocentric",
    },
    "sb3": {"net": "net_arch"},
    "distil": {
        "hidden": "net_arch",
        "own_frame": "egocentric",
        "worlds": "num_worlds",
        "steps": "n_steps",
        "epochs": "n_epochs",
        "minibatches": "n_minibatches",
        "max_gradient": "max_grad_norm",
    },
}
"""Renamed settings of each learner: the old name and the new one. `--set` and `--config` answer with the new one."""


def _run_2(tree: Tree) -> None:
    settings = tree.get("learner_settings")
    if tree.get("learner") == "ppo" and isinstance(settings, dict):
        settings.setdefault("turning", 0)  # older runs had none


def _run_3(tree: Tree) -> None:
    rename(tree.get("learner_settings"), **LEARNER_SETTINGS.get(str(tree.get("learner")), {}))


def _run_4(tree: Tree) -> None:
    rename(tree.get("more"), goes_on_by="continued_by")


def _policy_3(tree: Tree) -> None:
    for shape in branches(tree, "card", "shape"):
        rename(shape, hidden="net_arch")
    for weights in branches(tree, "weights"):
        _rename_policy_layers(weights)


def _checkpoint_3(tree: Tree) -> None:
    for learner in branches(tree, "state", "learner"):
        rename(learner, sitting="assignments", sat_down_at="assigned_at", league="opponent_pool")
        for weights in branches(learner, "opponent_pool", "past", "*", "*", "weights"):
            _rename_policy_layers(weights)
        for role in branches(learner, "roles", "*"):
            rename(role, slow_critics="target_critics", log_temperature="log_ent_coef", replay="replay_buffer")
            for weights in branches(role, "policy"):
                _rename_policy_layers(weights)
            for name in ("critic", "critics", "target_critics"):
                for weights in branches(role, name):
                    rename_layers(weights, others="privileged")
            for optimisers in branches(role, "optimisers"):
                rename(optimisers, temperature="ent_coef")
            for rows in branches(role, "replay_buffer", "rows"):
                rename(rows, others="privileged", next_others="next_privileged", goes_on="not_done")


def _checkpoint_4(tree: Tree) -> None:
    """The loop of Stable-Baselines3 kept its learner beside the tables' states, as no other did."""
    for state in branches(tree, "state"):
        if isinstance(state, dict) and "parameters" in state:
            names = ("parameters", "agent_steps", "observed", "rewarded", "best")
            state["learner"] = {name: state.pop(name) for name in names} | {"updates": tree["update"]}
            state["recent"] = []


def _league_3(tree: Tree) -> None:
    rename(tree, greedy="deterministic")


def _rename_policy_layers(weights: Any) -> None:
    rename_layers(weights, eyes="encoder", recall="memory", mind="trunk")


def _layers_2(tree: Tree) -> None:
    for layer in branches(tree, "layers", "*"):
        if isinstance(layer, dict) and layer.get("name") in ("eyes", "mind"):
            layer["name"] = "encoder" if layer["name"] == "eyes" else "trunk"


def _images_added(tree: Tree) -> None:
    """From here on a policy may have images in its observation and layers other than ReLU; older ones have neither."""


RUN = Format("godojo-run", _run_2, _run_3, _run_4)
"""`config.json`."""
POLICY = Format("godojo-policy", _hash_added, _policy_3, _images_added)
"""`policy_ROLE.pt`: `card` (with `shape` and `settings`) and `weights`."""
CHECKPOINT = Format("godojo-checkpoint", _hash_added, _checkpoint_3, _checkpoint_4)
"""`checkpoints/step_*.pt`: `state` is what the learner saved."""
CHECKPOINTS = Format("godojo-checkpoints", _hash_added)
"""`checkpoints/index.json`."""
SNAPSHOTS = Format("godojo-snapshots", _hash_added)
"""`snapshots/snapshots.json`."""
ENVIRONMENT = Format("godojo-environment", _hash_added)
LEAGUE = Format("godojo-league", _hash_added, _league_3)
FRAMES = Format("godojo-frames", _hash_added)
"""`frames.json`, with the hashes of the frames beside it."""
REPLAY = Format("godojo-replay", _hash_added, _teams_added)
"""The first line of `ep_*.jsonl`, and the header of each round in a packed file."""
DEMO = Format("godojo-demo", hashed_since=1)
"""The first line of a file of demonstrations (`demos/file.py`). The addon writes it too: a new version is also one in
`dojo_demo_recorder.gd`."""
HUNT = Format("godojo-hunt", hashed_since=1)
"""`hunt.json` of a hunt for bugs."""
FINDING = Format("godojo-finding", hashed_since=1)
"""`finding.json` in each folder of `findings`."""
ACTIONS = Format("godojo-actions", hashed_since=1)
"""`actions_*.json` beside it: a seed and what was played."""
TWIN_SNAPSHOT = Format("godojo-twin-snapshot", hashed_since=1)
"""`snapshot.json` of a built twin: the live scene."""
TWIN_BUILD = Format("godojo-twin-build", hashed_since=1)
"""`build.json` of a built twin: what it was built from, and how it compares with the real engine."""
ROUNDS = Format("godojo-rounds", _hash_added, _as_npz)
"""`rounds.json` in a packed file of rounds (`*.npz`); before version 3, the first bytes of `*.rounds`."""
DOJO = Format("dojo", _layers_2, _images_added, hashed_since=1)
"""The header of `*.dojo`. The addon reads it too: a new version is also one in `dojo_policy_reader.gd`."""
ONNX = Format("godojo-onnx", _hash_added, _layers_2, _images_added)
"""The same header in the metadata of `*.onnx`."""
QA = Format("godojo-qa")
"""What `qa evaluate` writes, and baselines: without a hash, since people may edit them."""
SETTINGS: dict[str, dict[tuple[str, str], tuple[str, str]]] = {}
"""Settings of games that were renamed, whichever file they are in, by section and name:
`{"tag": {("motion", "coyote_s"): ("jump", "late_s")}}`."""
COLUMNS = {
    "policy": "train/policy_gradient_loss",
    "value": "train/value_loss",
    "entropy": "train/entropy",
    "divergence": "train/approx_kl",
    "clipped": "train/clip_fraction",
    "gradient": "train/grad_norm",
    "explained": "train/explained_variance",
    "win_rate": "rollout/win_rate",
    "rating": "rollout/rating",
    "judged_reward": "eval/mean_reward",
    "loss": "train/loss",
    "apart": "train/action_distance",
} | {
    name: f"train/{name}"  # as Stable-Baselines3 calls them
    for name in (
        *("approx_kl", "clip_fraction", "clip_range", "entropy_loss", "explained_variance", "learning_rate"),
        *("n_updates", "policy_gradient_loss", "std", "value_loss"),
    )
}
"""Columns of `updates.csv` that were renamed: the old name, without its role, and the new tag."""
SAC_COLUMNS = {
    "policy": "train/actor_loss",
    "value": "train/critic_loss",
    "temperature": "train/ent_coef",
    "worth": "train/q_value",
}
"""The same where the learner was SAC."""
GLOBAL_COLUMNS = {"speed_agent_steps_per_s": "time/fps", "curriculum_stage": "curriculum/stage"}
"""Renamed columns that belong to no role."""
