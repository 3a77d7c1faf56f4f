class_name LandingShow
extends ReplayShow
## Draws recorded flights.

var _settings := LandingSettings.new()

@onready var look: LandingLook = $Look
@onready var panel: LandingPanel = $Side/Panel
@onready var frame: ShowHud = $Frame


func _begin_shot() -> void:
	var complaint: String = _settings.set_all(_shot.settings)
	assert(complaint.is_empty(), complaint)
	look.choose_camera(_shot.camera_name)
	frame.hide_banner()
	_show_frame(0, false)


func _show_frame(number: int, _continues: bool) -> void:
	var second: float = job.second(_shot, number)
	var numbers: PackedFloat32Array = job.numbers(_shot, number, 0)
	var tracks: ShowTracks = _shot.tracks
	var at := Vector3(numbers[0], numbers[1], numbers[2])
	var turn := Quaternion(
		tracks.between("rotation_x", second),
		tracks.between("rotation_y", second),
		tracks.between("rotation_z", second),
		tracks.between("rotation_w", second)
	)
	var index: int = tracks.until(second)
	var thrust := Vector3(
		tracks.number("thrust_x", index),
		tracks.number("thrust_y", index),
		tracks.number("thrust_z", index)
	)
	if _has_ended(second):
		thrust = Vector3.ZERO
	look.follow(Transform3D(Basis(turn.normalized()), at), thrust, _settings.craft)
	var velocity := Vector3(numbers[3], numbers[4], numbers[5])
	var away_m: float = at.distance_to(_settings.pad())
	panel.show_flight(at.y, velocity, away_m, tracks.between("fuel", second))
	frame.show_time(_clock_s(second))
	if _has_ended(second) and frame.shown_banner().is_empty() and _shot.end_title:
		frame.show_banner(_shot.end_title, _shot.end_text, _shot.end_color)
