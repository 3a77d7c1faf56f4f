extends VrRoom
## Several walkers in a VR room: shows how it goes, by hand or with a policy. Esc quits.

var _agent: CrowdAgent


func _ready() -> void:
	get_tree().node_added.connect(_watch)
	_rig.start("--xr" in OS.get_cmdline_user_args())
	_look_through_eyes(false)


func _physics_process(_delta: float) -> void:
	if _agent == null or _agent.ticks == 0:
		return
	_follow(_agent.walker)
	var measures: Dictionary = _agent.measures()
	_score.text = (
		"%s: nearest %.1f m away, %d collisions"
		% [_agent.reward.capitalize(), measures["nearest_m"], _agent.collisions]
	)
	_status.text = (
		"A trainer plays."
		if _sync.is_trained()
		else "WASD: the marked walker, Tab: camera, Esc: quit"
	)


func _watch(node: Node) -> void:
	if _agent == null and node is CrowdAgent:
		_agent = node
