class_name TagStage
extends Node
## What many worlds of one process share: arenas, each put up once, with a pair of eyes.
##
## Every arena has a physics space of its own and stands at its origin, where numbers are most
## exact. Worlds in the same arena do not see each other: the eyes look for one world at a time. So
## a round is the same to the last bit however many others are played beside it.

var _halls: Dictionary[ArenaData, SubViewport] = {}
var _solids: Dictionary[ArenaData, Arena] = {}
var _eyes: Dictionary[ArenaData, TagEyes] = {}


## Puts up [param arenas].
func build(arenas: Array[ArenaData], settings: TagSettings) -> void:
	for arena in arenas:
		var hall := SubViewport.new()
		hall.own_world_3d = true
		hall.render_target_update_mode = SubViewport.UPDATE_DISABLED
		add_child(hall)
		_halls[arena] = hall
		_solids[arena] = Arena.new()
		hall.add_child(_solids[arena])
		_solids[arena].build(arena, settings)
		_eyes[arena] = TagEyes.new(settings)
		hall.add_child(_eyes[arena])
		# Nothing here moves by itself, so the engine has nothing to do at a physics step.
		PhysicsServer3D.space_set_active(hall.find_world_3d().space, false)


## The bodies of [param arena].
func solid_of(arena: ArenaData) -> Arena:
	return _solids[arena]


## The eyes in [param arena].
func eyes_of(arena: ArenaData) -> TagEyes:
	return _eyes[arena]


## Takes [param world] into [param arena].
func admit(world: TagWorld, arena: ArenaData) -> void:
	if world.get_parent() != null:
		world.get_parent().remove_child(world)
	_halls[arena].add_child(world)
