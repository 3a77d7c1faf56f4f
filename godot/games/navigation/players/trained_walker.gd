class_name TrainedWalker
extends RefCounted
## Walks by a trained policy.

## Settings that a policy cannot do without: others change the game, these what its numbers mean.
const TRAINED_WITH: PackedStringArray = [
	"rules.ticks_per_decision", "sight.height_m", "sight.range_m", "rig.eye_height_m"
]

var _runner: DojoPolicyRunner


## Walks by [param policy], to which [method complaint_about] has nothing to say.
func _init(policy: DojoPolicy) -> void:
	_runner = DojoPolicyRunner.new(policy)


## What keeps [param policy] from walking with [param settings], or an empty text.
static func complaint_about(policy: DojoPolicy, settings: NavigationSettings) -> String:
	if not policy.error.is_empty():
		return policy.error
	if policy.game != "navigation":
		return "it plays %s, not navigation" % DojoUntrustedText.quoted(policy.game)
	for key: String in TRAINED_WITH:
		var trained: Variant = policy.settings.get(key.get_slice(".", 0))
		if trained is Dictionary:
			var here: float = settings.get_indexed(key.replace(".", ":"))
			var before: Variant = (trained as Dictionary).get(key.get_slice(".", 1), here)
			if not before is float or not is_equal_approx(before as float, here):
				return "it was trained with another %s" % key
	return policy.complaint_about(
		NavigationObservation.layout.parts(settings), NavigationWorlds.action_parts(settings)
	)


## Forgets the last round.
func begin_round() -> void:
	_runner.forget()


## Decides at the first tick of every decision of [param world], which is about to tick.
func act(world: NavigationWorld) -> void:
	if world.tick_number % world.settings.rules.ticks_per_decision > 0:
		return
	var seen := PackedFloat32Array()
	NavigationObservation.append(world, seen)
	var done: PackedFloat32Array = _runner.decide(seen)
	world.callv(&"set_action", Array(done))
