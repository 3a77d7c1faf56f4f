extends SceneTree
## Plays seeded random motion in random scenes and writes what the engine does in every tick, as
## JSON. Options: --seed=1 --scenes=4 --ticks=120 --kind=boxes --out=FILE; kinds that end in _2d are
## those of 2D scenes.

const Arena: GDScript = preload("res://tests/physics/physics_arena.gd")
const RigidArena: GDScript = preload("res://tests/physics/physics_rigid_arena.gd")
const Arena2D: GDScript = preload("res://tests/physics/physics_arena_2d.gd")


func _initialize() -> void:
	var options: Dictionary[String, String] = {}
	for argument: String in OS.get_cmdline_user_args():
		var parts: PackedStringArray = argument.trim_prefix("--").split("=", true, 1)
		options[parts[0]] = parts[1] if parts.size() > 1 else ""
	var kind: String = options.get("kind", "")
	var script: GDScript = Arena2D if kind.ends_with("_2d") else Arena
	if kind in RigidArena.get_script_constant_map()["_SHAPES"]:
		script = RigidArena
	var arena: Node = script.new()
	arena.set(&"options", options)
	root.add_child.call_deferred(arena)
