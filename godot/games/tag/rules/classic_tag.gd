class_name ClassicTag
extends TagRules
## One is "it" and passes it on by touch. Score: seconds not being it.
##
## After a tag both parties are immune for a while: immune agents neither tag nor are tagged, so
## that "it" cannot bounce between two who still touch.

var _immune_ticks := PackedInt32Array()


func roles(settings: TagSettings) -> Array[StringName]:
	var list: Array[StringName] = []
	for _player in settings.rules.players:
		list.append(&"player")
	return list


func round_s(settings: TagSettings) -> float:
	return settings.rules.classic_round_s


func begin_round(world: TagWorld) -> void:
	var chosen: int = world.rng.randi_range(0, world.agents.size() - 1)
	_immune_ticks.resize(world.agents.size())
	_immune_ticks.fill(0)
	for agent in world.agents:
		agent.is_seeker_like = agent.index == chosen


func can_tag(chaser: TagAgent, other: TagAgent) -> bool:
	return super(chaser, other) and not chaser.immune and not other.immune


func apply_tag(world: TagWorld, chaser: TagAgent, caught: TagAgent) -> void:
	chaser.is_seeker_like = false
	caught.is_seeker_like = true
	for agent: TagAgent in [chaser, caught]:
		# One more, since this tick's countdown is still to come.
		_immune_ticks[agent.index] = 1 + roundi(world.settings.rules.immunity_s / TagAgent.TICK_S)
		agent.immune = true


func after_tick(world: TagWorld) -> bool:
	for agent in world.agents:
		_immune_ticks[agent.index] = maxi(_immune_ticks[agent.index] - 1, 0)
		agent.immune = _immune_ticks[agent.index] > 0
		if not agent.is_seeker_like:
			world.scores[agent.index] += TagAgent.TICK_S
	return false


func winner(_world: TagWorld) -> StringName:
	return &"player"


func winner_index(world: TagWorld) -> int:
	var best: int = 0
	for index in world.scores.size():
		if world.scores[index] > world.scores[best]:
			best = index
	return best if world.scores.count(world.scores[best]) == 1 else -1
