class_name ScriptedPlayer
extends TagPlayer
## Plays one agent by script: chases while the agent is to chase, flees while it is not.

var _chasing: ScriptedOpponent
var _fleeing: ScriptedOpponent
var _chases: bool = false


func _init(agent_index: int, game_seed: int) -> void:
	super(agent_index)
	_chasing = ScriptedOpponent.for_role(true, game_seed * 31 + agent_index)
	_fleeing = ScriptedOpponent.for_role(false, game_seed * 31 + agent_index)


func begin_round() -> void:
	_chasing.begin_round()
	_fleeing.begin_round()


func act(world: TagWorld) -> Vector3:
	var agent: TagAgent = world.agents[index]
	if not agent.active:
		return Vector3.ZERO
	var script: ScriptedOpponent = _chasing if agent.is_seeker_like else _fleeing
	if agent.is_seeker_like != _chases:
		_chases = agent.is_seeker_like
		script.begin_round()
	return script.act(world, agent)
