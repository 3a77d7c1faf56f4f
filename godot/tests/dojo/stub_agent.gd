extends DojoAgent
## An agent that does nothing by itself and remembers what was done to it.

@export var level: int = 1

var place: float = 0.0
var resets: int = 0
var wanted: PackedFloat32Array = [0.0, 0.0]
var last_action := PackedFloat32Array()


func observe() -> PackedFloat32Array:
	return [place, resets]


func action_parts() -> Array[Dictionary]:
	return [DojoObservationLayout.move("go", 1), DojoObservationLayout.choice("pick", 3)]


func apply_action(action: PackedFloat32Array) -> void:
	last_action = action


func human_action() -> PackedFloat32Array:
	return wanted


func measures() -> Dictionary:
	return {"success": current.has_won, "resets": resets, "unknown": null}


func reset() -> void:
	place = chance.randf()
	resets += 1
