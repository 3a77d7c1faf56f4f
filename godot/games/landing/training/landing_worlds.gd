class_name LandingWorlds
extends DojoSceneWorlds
## Many flights over one ground, 90 physics ticks a second: crafts meet the ground, not each other.

## What a trainer may ask for.
const OPTIONS := {"settings": {}, "truncate_after": 0}

## The settings where a trainer sends none.
var usual_settings: LandingSettings = LandingSettings.load_defaults()
var settings: LandingSettings = usual_settings

var _truncate_after: int = 0


func _ready() -> void:
	sync = get_parent()
	sync.world_spacing = 0.0


func configure(request: Dictionary) -> String:
	var options: Dictionary = request["options"]
	var fields: DojoFields = DojoFields.options(options, OPTIONS)
	var truncate_after: int = int(fields.number("truncate_after", 0.0, 1e9))
	var wanted := LandingSettings.new()
	var complaint: String = fields.error()
	if complaint.is_empty():
		complaint = wanted.set_all(options.get("settings", usual_settings.to_dict()))
	if complaint.is_empty():
		complaint = wanted.apply_override(
			"rules.ticks_per_decision=%d" % request["ticks_per_decision"]
		)
	if not complaint.is_empty():
		return complaint
	settings = wanted
	_truncate_after = truncate_after
	return super(request.merged({"options": {}}, true))


func describe() -> Dictionary:
	var description: Dictionary = super()
	description["winners"] = LanderPilot.OUTCOMES
	description["arenas"] = ["valley"]
	return description


func collect() -> DojoResults:
	for agent in all_agents():
		(agent as LanderPilot).settle()
	var results: DojoResults = super()
	for place in range(3, results.ended.size(), 4):
		results.ended[place] = 0
	return results


func _place_copies(count: int) -> void:
	super(count)
	for root in _roots:
		(root as Lander).set_up(settings)
		var pilot: LanderPilot = root.get_node("Pilot")
		pilot.max_ticks = _truncate_after * settings.rules.ticks_per_decision


func _winner(world: int) -> int:
	return (_agents_of_world[world][0] as LanderPilot).outcome
