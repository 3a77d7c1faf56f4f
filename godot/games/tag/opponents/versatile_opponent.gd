class_name VersatileOpponent
extends ScriptedOpponent
## Pursues while it is "it", evades while it is not.

var _pursuer: PursuerOpponent
var _evader: EvaderOpponent


func _init(game_seed: int = 0) -> void:
	super(game_seed)
	_pursuer = PursuerOpponent.new(game_seed)
	_evader = EvaderOpponent.new(game_seed)


func begin_round() -> void:
	_pursuer.begin_round()
	_evader.begin_round()


func act(world: TagWorld, agent: TagAgent) -> Vector3:
	return _pursuer.act(world, agent) if agent.is_seeker_like else _evader.act(world, agent)
