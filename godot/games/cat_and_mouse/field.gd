class_name CatAndMouseField
extends Node2D
## One field: the cat wins when it touches the mouse, the mouse when the time is over.

const HALF := Vector2(300, 220)
const TOUCH := 34.0
const ROUND_TICKS := 480

var _ticks: int = 0

@onready var cat: ChaseAgent = $Cat/CatAgent
@onready var mouse: ChaseAgent = $Mouse/MouseAgent


func _ready() -> void:
	# After both have moved.
	process_physics_priority = 1


func _physics_process(_delta: float) -> void:
	_ticks += 1
	if cat.body.position.distance_to(mouse.body.position) < TOUCH:
		cat.add_reward(1.0, "touch")
		mouse.add_reward(-1.0, "touch")
		cat.end_episode(true)
	elif _ticks >= ROUND_TICKS:
		mouse.end_episode(true)


func _draw() -> void:
	var floor_box := Rect2(-HALF - Vector2(24, 24), 2.0 * HALF + Vector2(48, 48))
	draw_rect(floor_box, Color("3b4a46"))
	draw_rect(floor_box, Color("57c785"), false, 3.0, true)


## [DojoSceneWorlds] calls it when a round begins.
func reset_world(chance: RandomNumberGenerator) -> void:
	_ticks = 0
	var side: float = -1.0 if chance.randf() < 0.5 else 1.0
	cat.place(Vector2(side * 220.0, chance.randf_range(-180.0, 180.0)))
	mouse.place(Vector2(-side * 220.0, chance.randf_range(-180.0, 180.0)))
