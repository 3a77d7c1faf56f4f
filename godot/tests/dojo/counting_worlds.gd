extends DojoWorlds
## Worlds without physics in which everything can be foretold: for tests of the wire.
##
## Each world has one "walker" and two of role "flyer". An observation is world, agent, decision and
## the first number of the last action, then as many zeros as the option "padding" says. The reward
## is the decision's number (term "count") and minus one (term "cost"). Every fifth decision ends
## the worlds with an even number; the winner is the walker.

var _worlds: int = 1
var _padding: int = 0
var _decision: int = 0
var _actions := PackedFloat32Array()


func configure(request: Dictionary) -> String:
	advances_itself = true
	var options: Dictionary = request["options"]
	if options.has("refuse"):
		return "the counting worlds were asked to refuse"
	_worlds = request["worlds"]
	_padding = options.get("padding", 0)
	return ""


func describe() -> Dictionary:
	var seen: Array[Dictionary] = [
		DojoObservationLayout.numbers("counts", 4 + _padding, 0.0, 1000.0)
	]
	return {
		"roles":
		[
			{
				"name": "walker",
				"agents": 1,
				"observation": seen,
				"action": [DojoObservationLayout.move("walk", 2)],
			},
			{
				"name": "flyer",
				"agents": 2,
				"observation": seen,
				"action":
				[DojoObservationLayout.move("fly", 1), DojoObservationLayout.choice("land", 3)],
			},
		],
		"reward_terms": PackedStringArray(["count", "cost"]),
		"winners": ["nobody", "walker", "flyer"],
		"arenas": ["plain"],
		"model": null,
	}


func reset(seed_number: int) -> void:
	_decision = 0
	_actions = PackedFloat32Array()
	_actions.resize(_worlds * 6)
	_actions.fill(seed_number)


func act(actions: PackedFloat32Array) -> void:
	_actions = actions


func advance() -> void:
	_decision += 1


func collect() -> DojoResults:
	var results := DojoResults.new(2)
	var is_over: bool = _decision > 0 and _decision % 5 == 0
	for role in 2:
		for world in _worlds:
			for agent in role + 1:
				results.observation.append_array(_observation(role, world, agent, _decision))
				results.terms.append_array([_decision, -1.0 if _decision > 0 else 0.0])
				var ends: bool = is_over and world % 2 == 0
				var flags: int = DojoResults.ACTED | (DojoResults.TERMINATED if ends else 0)
				results.flags.append(flags if _decision > 0 else 0)
				if ends:
					results.final_rows[role].append(world * (role + 1) + agent)
					results.final_observation[role].append_array(
						_observation(role, world, agent, -_decision)
					)
					results.final_terms[role].append_array([15.0, -5.0])
					results.final_score[role].append(world)
	if is_over:
		for world in range(0, _worlds, 2):
			results.ended.append_array([world, 1, 20, 0])
	return results


func _observation(role: int, world: int, agent: int, decision: int) -> PackedFloat32Array:
	var row: int = world * (role + 1) + agent
	var action: float = _actions[row * 2 + (0 if role == 0 else _worlds * 2)]
	var numbers: PackedFloat32Array = [world, agent, decision, action]
	numbers.resize(4 + _padding)
	return numbers
