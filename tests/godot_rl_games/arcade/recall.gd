extends Controller
## A light on the left or on the right shines at the start; after a dark corridor the agent has to
## turn to that side.

const CORRIDOR := 10

var side := 1
var decisions := 0


func begin() -> void:
	side = 1 if randf() < 0.5 else -1
	decisions = 0


func get_obs() -> Dictionary:
	var light := float(side) if decisions < 2 else 0.0
	return {"obs": [light, float(decisions) / CORRIDOR]}


func get_action_space() -> Dictionary:
	return {"turn": {"size": 2, "action_type": "discrete"}}


func set_action(action: Dictionary) -> void:
	decisions += 1
	if decisions > CORRIDOR:
		var is_right := int(action["turn"]) == (1 if side > 0 else 0)
		reward += 1.0 if is_right else -1.0
		finish(is_right)
