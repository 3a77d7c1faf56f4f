class_name NavigationShow
extends ReplayShow
## Draws recorded walks: what a person in the headset sees, and a map with the way.

var _world: NavigationWorld
var _added: int
var _second: float

@onready var hud: NavigationHud = $Hud
@onready var rig: NavigationRig = $Rig
@onready var look: NavigationLook = $Look


func _begin_shot() -> void:
	var settings := NavigationSettings.new()
	var complaint: String = settings.set_all(_shot.settings)
	assert(complaint.is_empty(), complaint)
	_world = NavigationWorld.new(settings)
	_world.course = CourseData.from_dict(_shot.arena)
	var marks := PackedVector3Array()
	for mark in _shot.layout.marks:
		marks.append(mark.position)
	_world.set_marks(marks)
	_world.round_over = false
	_added = 0
	look.show_course(_world.course)
	look.choose_camera(_shot.camera_name, rig)
	hud.show_course(_world.course)
	hud.frame.hide_banner()
	_show_frame(0, false)


func _show_frame(frame: int, continues: bool) -> void:
	var second: float = job.second(_shot, frame)
	_pose(second, job.numbers(_shot, frame, 0))
	var index: int = _shot.tracks.until(second)
	while _added <= index:
		var collisions: float = _shot.tracks.number("collisions", _added)
		var has_bumped: bool = collisions > _shot.tracks.number("collisions", maxi(_added - 1, 0))
		var comfort: float = _shot.tracks.number("comfort", _added)
		hud.map.add(_shot.tracks.place(_added), comfort, has_bumped)
		_added += 1
	rig.follow(_world, maxf(second - _second, 0.0) / Walker.TICK_S if continues else 0.0)
	_second = second
	look.follow(_world)
	hud.show_now(_world)
	hud.frame.show_time(_clock_s(second))
	if _has_ended(second) and hud.frame.shown_banner().is_empty() and _shot.end_title:
		hud.frame.show_banner(_shot.end_title, _shot.end_text, _shot.end_color)


func _cut() -> void:
	rig.cut()


## Puts the walk into the state of a moment.
func _pose(second: float, numbers: PackedFloat32Array) -> void:
	var tracks: ShowTracks = _shot.tracks
	var walker: Walker = _world.walker
	var settings: NavigationSettings = _world.settings
	walker.position = Vector3(numbers[0], numbers[1], numbers[2])
	walker.velocity = Vector3(numbers[3], numbers[4], numbers[5])
	walker.yaw_rad = numbers[6] - PI
	walker.smoothed[2] = tracks.between("turn", second)
	walker.roll_rad = tracks.between("roll_rad", second)
	var walked: float = (
		Vector2(walker.velocity.x, walker.velocity.z).length() / settings.motion.speed_mps
	)
	var phase_rad: float = settings.rig.stride_radpm * tracks.between("walked_m", second)
	walker.hands = Walker.hands_of(settings.rig, phase_rad, walked)
	var index: int = tracks.until(second)
	_world.mark = mini(roundi(tracks.number("marks", index)), _world.marks.size() - 1)
	_world.winner = &"walker" if roundi(tracks.number("marks", index)) > _world.mark else &""
	_world.rewards.comfort = tracks.number("comfort", index)
	_world.rewards.collisions = roundi(tracks.number("collisions", index))
