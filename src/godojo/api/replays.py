"""Replays: episodes of a run's policies, recorded tick by tick."""

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from godojo.api.references import reference, resolved
from godojo.errors import GodojoError, option
from godojo.files import atomic_write

if TYPE_CHECKING:
    from godojo.show.replay import Replay


MAP_DPI = 100


class Replays(NamedTuple):
    """Recorded episodes, and the folder that holds their files."""

    folder: Path
    episodes: "list[Replay]"

    def draw_map(self, path: str | Path) -> Path:
        """Draw where the agents went, seen from above, as a PNG file."""
        from godojo.show import maps, style  # loads matplotlib

        path, content = Path(path), io.BytesIO()
        if path.suffix != ".png":
            raise GodojoError(f"{path}: maps are PNG; let the name end with .png")
        with style.look():
            maps.draw(self.episodes).savefig(content, format="png", dpi=MAP_DPI)
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, content.getvalue())
        return path


def replay(
    source: Any,
    folder: Path | None = None,
    *,
    episodes: int = 5,
    players: Mapping[str, str | None] | None = None,
    arena: str | None = None,
    engine: str = "sim",
    seed: int = 0,
    deterministic: bool = True,
    packed: bool = False,
    progress: Callable[..., None],
) -> Replays:
    """See `Run.replay`."""
    if episodes < 1:
        raise GodojoError(f"{option('episodes')} must be 1 or more, not {episodes}")
    text = resolved(reference(source))
    from godojo.show.policies_to_show import PoliciesToShow  # loads torch and the kernels
    from godojo.show.replay_file import PACKED_SUFFIX, write_rounds
    from godojo.show.trajectories import FOLDER, write_episodes

    lineup = PoliciesToShow.of(text, players, seed=seed, deterministic=deterministic)
    replays = lineup.record(
        episodes,
        arenas=lineup.arenas(arena),
        seed=seed,
        engine=engine,
        progress=lambda share: progress("playing", share),
    )
    folder = folder or lineup.run.path / FOLDER
    if packed:
        write_rounds(folder / f"{lineup.stem}{PACKED_SUFFIX}", replays)
    else:
        write_episodes(folder, lineup.stem, replays)
    return Replays(folder, replays)
