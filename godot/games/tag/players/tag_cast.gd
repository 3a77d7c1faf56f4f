class_name TagCast
extends RefCounted
## Finds who plays an agent: a trained policy by its level or its file, or else a script.
##
## All agents of a role share a policy; each has a memory of its own.

## The levels there are, and the usual one.
const LEVELS: PackedStringArray = ["easy", "medium", "hard"]
const USUAL_LEVEL := "medium"
## Who an opponent may be.
const OPPONENTS: PackedStringArray = ["trained", "scripted"]
const _FILE := "res://games/tag/policies/%s_%s.dojo"

## What went wrong, one line for each role that is played by a script instead.
var warnings: PackedStringArray = []

var _options: TagOptions
# Of each role that has been asked for; null where a script plays.
var _policies: Dictionary[StringName, DojoPolicy] = {}
# Files of the options by whether they are of use to a role that has been asked for.
var _is_used: Dictionary[String, bool] = {}


## Players as [param options] want them.
func _init(options: TagOptions) -> void:
	_options = options


## Who plays [param agent] of [param world].
func player_for(agent: TagAgent, world: TagWorld) -> TagPlayer:
	if not _policies.has(agent.role):
		_policies[agent.role] = _policy_for(agent.role, world.settings)
	var policy: DojoPolicy = _policies[agent.role]
	if policy == null:
		return ScriptedPlayer.new(agent.index, _options.random_seed)
	return TrainedPlayer.new(agent.index, policy)


## Warns of every policy in the options that plays a role which nobody has been asked for.
func warn_of_unused() -> void:
	for path in _is_used:
		if not _is_used[path]:
			warnings.append(
				"%s plays a role that you play alone" % DojoUntrustedText.quoted(path.get_file())
			)


func _policy_for(role: StringName, settings: TagSettings) -> DojoPolicy:
	var policy: DojoPolicy = null
	for path in _options.policies:
		var given: DojoPolicy = DojoPolicyReader.load_file(path)
		if _is_for_other_role(given, role):
			_is_used[path] = _is_used.get(path, false)
			continue
		_is_used[path] = true
		policy = given
		if policy.error.is_empty() and policy.role == role:
			break
	var shipped: String = _FILE % [_options.level, role]
	# A script plays classic tag where no policy for it has been exported.
	var is_there: bool = role != &"player" or FileAccess.file_exists(shipped)
	if policy == null and _options.opponent == "trained" and is_there:
		policy = DojoPolicyReader.load_file(shipped)
		policy.resource_name = _options.level
	if policy == null:
		return null
	var complaint: String = TrainedPlayer.complaint_about(policy, role, settings)
	if complaint.is_empty():
		return policy
	warnings.append("the %s is played by a script: %s" % [role, complaint])
	return null


static func _is_for_other_role(policy: DojoPolicy, role: StringName) -> bool:
	var is_of_tag: bool = policy.error.is_empty() and policy.game == "tag"
	return is_of_tag and policy.role != role and TagOptions.ROLES.has(policy.role)
