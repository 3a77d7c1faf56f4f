class_name ArenaShow
extends ReplayShow
## Draws recorded rounds of any game: its arena, its agents, clock and score.

## Slower than this going up, feet left the ground without a jump.
const JUMP_MPS: float = 1.0
## Where clock and score are magnified, names are only by this share of it.
const NAMES_GROW: float = 0.6

## How it looks.
var look: RoundLook

## Score of every agent in this frame.
var _scores: PackedFloat32Array = []

@onready var hud: ShowHud = $Hud
@onready var _tags: NameTags = $NameTags


func _begin_shot() -> void:
	if look != null:
		remove_child(look)
		look.queue_free()
	look = RoundLook.new()
	look.physics_interpolation_mode = Node.PHYSICS_INTERPOLATION_MODE_OFF
	add_child(look)
	for index in _shot.agents.size():
		var body := ShowBody.new()
		body.index = index
		body.title = _shot.agents[index]
		look.bodies.append(body)
	_scores.resize(_shot.agents.size())
	_show_agents(0, false)
	look.hero = _shot.hero
	look.rig.mode = _shot.camera
	look.rig.zoom = _shot.zoom
	look.show_round(_shot.layout)
	hud.visible = _shot.hud > 0.0
	hud.magnified = _shot.hud if _shot.hud > 0.0 else 1.0
	hud.hide_banner()
	_tags.visible = _shot.is_tagged_by_name
	_tags.name_agents(look.bodies, _shot.layout.body_m, look.rig.camera)
	_tags.factor = hud.factor / hud.magnified * lerpf(1.0, hud.magnified, NAMES_GROW)


func _show_frame(frame: int, continues: bool) -> void:
	var second: float = job.second(_shot, frame)
	var has_ended: bool = _has_ended(second)
	_show_agents(frame, continues)
	_aim_camera(frame)
	if has_ended and not look.is_over and not _shot.end_title.is_empty():
		var keep_clear: PackedVector2Array = look.screen_points()
		hud.show_banner(_shot.end_title, _shot.end_text, _shot.end_color, keep_clear)
	look.is_over = has_ended
	hud.show_time(_clock_s(second))
	var titles: PackedStringArray = []
	var colors: PackedColorArray = []
	var scores: PackedStringArray = []
	for party: Dictionary in _shot.parties:
		var agent: int = roundi(party["agent"] as float)
		titles.append(party["title"] as String)
		colors.append(look.bodies[agent].color if agent >= 0 else Color(party["colour"] as String))
		var text: String = party["after"] if has_ended else party["before"]
		scores.append("%.1f" % _scores[agent] if agent >= 0 else text)
	hud.show_parties(titles, colors, scores)


func _cut() -> void:
	look.cut()


func _aim_camera(frame: int) -> void:
	if _shot.camera == CameraRig.Mode.PLANNED:
		var numbers: PackedFloat32Array = job.camera(_shot, frame)
		look.rig.aim_at(Vector3(numbers[0], numbers[1], numbers[2]), numbers[3], numbers[4])


func _show_agents(frame: int, continues: bool) -> void:
	for body in look.bodies:
		_show_agent(body, job.numbers(_shot, frame, body.index), continues)


func _show_agent(body: ShowBody, numbers: PackedFloat32Array, continues: bool) -> void:
	var was_grounded: bool = body.grounded
	var was_active: bool = body.active
	var was_color: Color = body.color
	var fall_mps: float = maxf(-body.velocity.y, 0.0)
	body.middle = Vector3(numbers[0], numbers[1], numbers[2])
	body.velocity = Vector3(numbers[3], numbers[4], numbers[5])
	body.heading_rad = numbers[6]
	body.grounded = numbers[7] > 0.5
	body.active = numbers[8] > 0.5
	body.color = _shot.teams[clampi(roundi(numbers[9]), 0, _shot.teams.size() - 1)]
	_scores[body.index] = numbers[10]
	if not continues:
		return
	if was_grounded and not body.grounded and body.velocity.y > JUMP_MPS:
		look.show_jump(body.index)
	elif body.grounded and not was_grounded:
		look.show_landing(body.index, fall_mps)
	if was_active and not body.active:
		look.show_catch(body.index, _other_color(body.color))
	elif body.color != was_color:
		look.show_catch(body.index, body.color)


## The colour of another team: the one that made the catch.
func _other_color(color: Color) -> Color:
	for other in _shot.teams:
		if other != color:
			return other
	return color
