"""What explorers are guided by: branches of scripts, values of variables, and what was clicked."""

import numpy as np

from godojo.games.parts import ActionPart
from godojo.hunt.actions import ActionSpace
from godojo.hunt.archive import Archive, Steps
from godojo.hunt.coverage import instrumented
from godojo.hunt.features import BRANCH, FeatureReader, buckets
from godojo.hunt.probe import stable
from godojo.hunt.seen import Clicks, Seen
from godojo.hunt.team import EXPLORERS
from tests.hunted_grid import Grid

SCRIPT = '''
@export var speed: float = 3.0:
	set(value):
		speed = value # it ends: here
var names := {
	"a": 1,
}
class Inner:
	var x := 1

func _ready() -> void: pass

func _run(
	a: int, text := "if x:",
) -> void:
	# nothing
	if a > 1 and \\
			text == """
if not code:
""":
		return
	elif a:

		print("a # b:")
	match a:
		1, 2:
			pass
		_:
			var f := func() -> int:
				return 1
			f.call()
	for i in 3: print(i)
	while a:
		if a:
			a -= 1
'''


def test_every_block_of_a_script_is_counted_on_its_line() -> None:
    text, lines = instrumented(SCRIPT, 7)
    assert text.count("\n") == SCRIPT.count("\n")
    counted = [line.strip() for line in text.splitlines() if "DojoCoverage" in line]
    assert counted == [
        "DojoCoverage.hit(7); speed = value # it ends: here",
        "DojoCoverage.hit(8); if a > 1 and \\",
        "DojoCoverage.hit(9); return",
        'DojoCoverage.hit(10); print("a # b:")',
        "DojoCoverage.hit(11); pass",
        "DojoCoverage.hit(12); var f := func() -> int:",
        "DojoCoverage.hit(13); a -= 1",
    ]
    rows = text.splitlines()
    assert all("DojoCoverage" in rows[line - 1] for line in lines)
    for place, row in enumerate(SCRIPT.splitlines()):
        assert (
            rows[place].replace(f"DojoCoverage.hit({7 + (lines.index(place + 1) if place + 1 in lines else 0)}); ", "")
            == row
        )


def test_numbers_fall_into_buckets_that_grow() -> None:
    values = np.array([0.0, 0.2, 1.0, 3.0, 4.0, 5.0, 8.0, 9.0, -1.0, np.inf, np.nan])
    found = buckets(values).tolist()
    assert found[:5] == [0, 1, 2, 6, 8]
    assert found[5] == found[6] != found[7]
    assert found[8] == -2
    assert found[9] == found[10] == 99


def test_features_are_what_has_changed() -> None:
    reader, names = FeatureReader(), ("/root/Game:coins", "/root/Level/Enemy12:hp")
    first = reader.read(names, np.array([0.0, 5.0]), (3,))
    assert first == (("/root/Game/:coins", 0), ("/root/Level/Enemy/:hp", 10), (BRANCH, 25))
    assert reader.read(names, np.array([0.0, 5.0]), ()) == ()
    assert reader.read(names, np.array([1.0, 5.0]), (3,)) == (("/root/Game/:coins", 2), (BRANCH, 26))
    reader.begin()
    assert (BRANCH, 25) in reader.read(names, np.array([0.0, 5.0]), (3,)), "runs count from the reset on"


def test_the_archive_returns_to_features() -> None:
    archive, steps = Archive(), Steps(3)
    place = Seen(np.zeros(3, np.float32), np.zeros(3, np.float32), (), (), 0.0, False, np.zeros(0))
    for number in range(40):
        archive.visit(place._replace(features=(("coins", 2),) if number == 20 else ()), steps)
        steps.actions.append(np.full(2, number, np.float32))
    assert archive.features["coins", 2].length == 20
    rng = np.random.default_rng(0)
    lengths = {len(chosen[1]) for _ in range(30) if (chosen := archive.choose(rng)) is not None}
    assert 20 in lengths


def test_elements_without_names_are_the_same_in_every_process() -> None:
    first = stable([("/root/Menu/@Button@7", 0.0, 0.0), ("/root/Menu/@Button@9", 0.5, 0.0), ("/root/Menu/Back", 0, 1)])
    again = stable([("/root/Menu/@Button@3", 0.0, 0.0), ("/root/Menu/@Button@4", 0.5, 0.0), ("/root/Menu/Back", 0, 1)])
    assert first == again
    assert len({path for path, _, _ in first}) == 3


def test_a_click_is_a_press_and_a_release_on_the_same_element() -> None:
    space = ActionSpace((ActionPart("pointer", "continuous", 2), ActionPart("click", "discrete", 2)))
    clicks, shown = Clicks(space), [("/root/A", 0.5, 0.5), ("/root/B", -0.5, 0.5)]
    played = [(0.5, 0.5, 0), (0.5, 0.5, 1), (0.5, 0.5, 0), (0.0, 0.0, 1), (-0.5, 0.5, 1), (-0.5, 0.5, 0)]
    hits = [clicks.look(np.array(action, np.float32), shown)[1] for action in played]
    assert hits == [[], [], ["/root/A"], [], [], []], "one that is dragged there is none"


def test_the_seeker_walks_to_every_place() -> None:
    game, archive, rng = Grid(()), Archive(), np.random.default_rng(0)
    explorer = EXPLORERS["seeker"](ActionSpace(game.action_parts), archive, rng)
    places = tuple((f"/root/{x}{z}", float(x), 0.0, float(z)) for x in (1, 10) for z in (1, 10))
    explorer.begin(game)
    seen, met = game.reset(0), set()
    for _ in range(1500):
        # As a level looks: one body that moves, in a game that runs.
        state = np.array([0, 1, 1, 0, 0, 0, 0], np.float32)
        seen = game.step(explorer.choose(seen._replace(places=places, state=state)))
        met |= {path for path, *place in places if np.abs(seen.position - place).max() <= 1.0}
    assert len(met) == 4


def test_inputs_that_interrupt_a_game_become_rare() -> None:
    space = ActionSpace([ActionPart(name, "discrete", 2) for name in ("left", "right", "jump", "pause")])
    pause, neutral = np.array([0, 0, 0, 1], np.float32), space.neutral
    for _ in range(12):
        space.note_interruption(neutral, pause, is_interrupted=True)
        space.note_interruption(neutral, np.array([1, 0, 1, 0], np.float32), is_interrupted=False)
    space.is_wild = False
    rng = np.random.default_rng(0)
    pressed = np.mean([space.sample(rng) for _ in range(500)], axis=0)
    assert space.interrupts(pause)
    assert pressed[3] < 0.3 * pressed[0]
    assert np.array_equal(space.interruption(rng), pause)
