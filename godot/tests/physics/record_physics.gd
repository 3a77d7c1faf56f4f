extends SceneTree
## Plays seeded random motion in random scenes and writes what Jolt does in every tick, as JSON.
## Options: --seed=1 --scenes=4 --ticks=120 --kind=boxes --out=FILE

const Arena: GDScript = preload("res://tests/physics/physics_arena.gd")


func _initialize() -> void:
	var options: Dictionary[String, String] = {}
	for argument: String in OS.get_cmdline_user_args():
		var parts: PackedStringArray = argument.trim_prefix("--").split("=", true, 1)
		options[parts[0]] = parts[1] if parts.size() > 1 else ""
	var arena: Node3D = Arena.new()
	arena.set(&"options", options)
	root.add_child.call_deferred(arena)
