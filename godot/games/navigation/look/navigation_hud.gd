class_name NavigationHud
extends CanvasLayer
## Time left, how far the goal is, and how comfortable the walk is.

const _WORDS: Dictionary[StringName, String] = {
	&"walker": "You are there", &"gap": "You fell", &"clock": "Time is up"
}

@onready var _line: Label = %Line
@onready var _banner: Label = %Banner
@onready var _hints: Label = %Hints


## Whether key hints are shown.
func show_hints(are_shown: bool) -> void:
	_hints.visible = are_shown


## Tells how [param world] goes.
func follow(world: NavigationWorld) -> void:
	_line.text = (
		"%.0f s     %.1f m to go     comfort %.0f %%     bumps %d"
		% [
			world.time_left_s(),
			world.remaining_m(),
			world.rewards.comfort * 100.0,
			world.rewards.collisions
		]
	)
	_banner.visible = world.round_over
	if world.round_over:
		_banner.text = _WORDS.get(world.winner, "")
