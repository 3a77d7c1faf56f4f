@icon("res://addons/godojo/icons/dojo_sync.svg")
class_name DojoRecorder
extends Node
## Saves what is drawn as numbered pictures, for a film: [code]frame_00000.png[/code] and so on.
##
## Put one into any scene that is drawn. Pictures of an earlier recording in [member folder] are
## removed when the first new one is taken. Saving takes time: start the game with
## [code]--fixed-fps 60[/code] for pictures at even intervals.

## The last picture has been saved, or the scene ends; [param count] are saved.
signal finished(count: int)

const NAME := "frame_%05d.png"

## Whether pictures are taken. May be changed while the game runs: switched on again, it goes on
## with the next number.
@export var enabled: bool = true
## Where pictures go.
@export_global_dir var folder: String = "user://frames"
## Pictures for each second of the game; 0 for one of every frame that is drawn.
@export_range(0, 120) var fps: int = 30
## Recording ends after this many pictures; 0 for never.
@export_range(0, 100000) var max_frames: int = 3600

## Pictures taken so far.
var count: int = 0

var _due_s: float = 0.0
var _is_taking: bool = false
var _is_over: bool = false


func _ready() -> void:
	process_mode = Node.PROCESS_MODE_ALWAYS
	if DisplayServer.get_name() == "headless":
		enabled = false


func _process(delta: float) -> void:
	if not enabled or _is_over:
		return
	_due_s -= delta
	if _due_s > 0.0 or _is_taking:
		return
	# A slow game is not made up for by taking the same picture twice.
	_due_s = maxf(_due_s + 1.0 / fps, 0.0) if fps > 0 else 0.0
	_take()


func _exit_tree() -> void:
	_finish()


func _take() -> void:
	_is_taking = true
	await RenderingServer.frame_post_draw
	_is_taking = false
	if not is_inside_tree() or not enabled:
		return
	if count == 0 and not _clear():
		return
	var image: Image = get_viewport().get_texture().get_image()
	var trouble: Error = image.save_png(folder.path_join(NAME % count))
	if trouble != OK:
		_give_up(error_string(trouble))
		return
	count += 1
	if max_frames > 0 and count >= max_frames:
		_finish()


## Makes the folder, without pictures of an earlier recording; false if that cannot be done.
func _clear() -> bool:
	var trouble: Error = DirAccess.make_dir_recursive_absolute(folder)
	var opened: DirAccess = DirAccess.open(folder)
	if trouble != OK or opened == null:
		_give_up(error_string(trouble if trouble != OK else DirAccess.get_open_error()))
		return false
	for file in opened.get_files():
		if file.match("frame_?????.png"):
			opened.remove(file)
	return true


func _give_up(why: String) -> void:
	enabled = false
	printerr("DojoRecorder: pictures cannot be saved in %s (%s)" % [folder, why])


func _finish() -> void:
	if count > 0 and not _is_over:
		_is_over = true
		print("DojoRecorder: %d pictures in %s" % [count, ProjectSettings.globalize_path(folder)])
		finished.emit(count)
