class_name TrainedPlayer
extends TagPlayer
## Plays one agent by a trained policy: sees what its eyes show it, and remembers its round.

## Settings that a policy cannot do without: others change the game, these what its numbers mean.
const TRAINED_WITH: PackedStringArray = [
	"rules.ticks_per_decision", "sight.fov_deg", "sight.range_m", "sight.eye_height_m"
]

## What it plays by.
var policy: DojoPolicy
## What it saw last.
var seen := PackedFloat32Array()
## What it did last.
var done := PackedFloat32Array()

var _mind: DojoPolicyRunner


## Plays by [param by_policy], to which [method complaint_about] has nothing to say.
func _init(agent_index: int, by_policy: DojoPolicy) -> void:
	super(agent_index)
	policy = by_policy
	_mind = DojoPolicyRunner.new(policy)


## What keeps [param by_policy] from playing a [param role] with [param settings], or an empty text.
static func complaint_about(
	by_policy: DojoPolicy, role: StringName, settings: TagSettings
) -> String:
	if not by_policy.error.is_empty():
		return by_policy.error
	if by_policy.game != "tag" or by_policy.role != role:
		var who: Array = [
			DojoUntrustedText.quoted(by_policy.game), DojoUntrustedText.quoted(by_policy.role)
		]
		return "it plays %s as the %s" % who + ", not tag as the %s" % role
	for key: String in TRAINED_WITH:
		var trained: Variant = by_policy.settings.get(key.get_slice(".", 0))
		if trained is Dictionary:
			var here: Variant = settings.get_indexed(key.replace(".", ":"))
			var before: Variant = (trained as Dictionary).get(key.get_slice(".", 1), here)
			if not before is float or not is_equal_approx(before as float, here as float):
				return "it was trained with another %s" % key
	return by_policy.complaint_about(TagObservation.layout.parts(settings), TagAction.parts())


func begin_round() -> void:
	_mind.forget()


func act(world: TagWorld) -> Vector3:
	if not world.agents[index].active:
		return Vector3.ZERO
	seen.clear()
	TagObservation.append(world, index, seen)
	done = _mind.decide(seen)
	return Vector3(done[0], done[1], done[2])


func title() -> String:
	return policy.resource_name
