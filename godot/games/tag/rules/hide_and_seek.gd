class_name HideAndSeek
extends TagRules
## Seekers have until the clock runs out to touch every hider. A caught hider is out.
##
## Score: a seeker's is the hiders it caught, a hider's the seconds it lasted.


func roles(settings: TagSettings) -> Array[StringName]:
	var list: Array[StringName] = []
	for _seeker in settings.rules.seekers:
		list.append(&"seeker")
	for _hider in settings.rules.hiders:
		list.append(&"hider")
	return list


func apply_tag(world: TagWorld, chaser: TagAgent, caught: TagAgent) -> void:
	world.scores[chaser.index] += 1.0
	world.scores[caught.index] = world.tick_number * TagAgent.TICK_S
	caught.set_active(false)


func after_tick(world: TagWorld) -> bool:
	var hider_left: bool = false
	var lasted_s: float = world.tick_number * TagAgent.TICK_S
	for agent in world.agents:
		if agent.active and not agent.is_seeker_like:
			world.scores[agent.index] = lasted_s
			hider_left = true
	return not hider_left


func winner(world: TagWorld) -> StringName:
	for agent in world.agents:
		if agent.active and not agent.is_seeker_like:
			return &"hider"
	return &"seeker"
