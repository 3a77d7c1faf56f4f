extends Node
## Draws a [ShowJob] and writes its frames, one JPEG after the other, into a file of motion JPEG.
##
## [codeblock]
## godot --fixed-fps 30 res://show/draw_replay.tscn -- JOB.json FRAMES.mjpeg
## [/codeblock]
## The engine's own movie maker writes pictures of the project's size only. This one draws any size,
## larger than the screen too, and ends with a line when the disk is full.

const USAGE := "usage: -- JOB.json FRAMES.mjpeg"
const QUALITY: float = 0.95
## Exit status when the job cannot be understood, and when its frames cannot be written.
const BAD_JOB: int = 2
const CANNOT_WRITE: int = 3
## Frames between two lines of progress.
const REPORT_EVERY: int = 5

## The words after [code]--[/code] on the command line.
var arguments: PackedStringArray = OS.get_cmdline_user_args()
## Frames written so far.
var frames_written: int = 0

var _show: ReplayShow
var _file: FileAccess

@onready var _view: SubViewport = $View


func _ready() -> void:
	if arguments.size() != 2:
		_stop(USAGE, BAD_JOB)
		return
	var job: ShowJob = ShowJob.load_file(arguments[0])
	if not job.error.is_empty():
		_stop(job.error, BAD_JOB)
		return
	_file = FileAccess.open(arguments[1], FileAccess.WRITE)
	if _file == null:
		_stop("%s: %s" % [arguments[1], error_string(FileAccess.get_open_error())], CANNOT_WRITE)
		return
	get_tree().root.disable_3d = true
	_view.size = job.size
	_view.msaa_3d = Viewport.MSAA_DISABLED if job.is_quick else Viewport.MSAA_4X
	if job.is_quick:
		_view.screen_space_aa = Viewport.SCREEN_SPACE_AA_FXAA
	var packed: PackedScene = load(job.scene)
	_show = packed.instantiate() as ReplayShow if packed != null else null
	if _show == null:
		_stop("%s is no scene of a ReplayShow" % job.scene, BAD_JOB)
		return
	_show.job = job
	_view.add_child(_show)
	RenderingServer.frame_post_draw.connect(_keep_frame)


func _keep_frame() -> void:
	if _show.is_over:
		_file.flush()
		var trouble: Error = _file.get_error()
		_file.close()
		_stop("" if trouble == OK else error_string(trouble), OK if trouble == OK else CANNOT_WRITE)
	elif _show.is_on:
		_write(_view.get_texture().get_image().save_jpg_to_buffer(QUALITY))


func _write(picture: PackedByteArray) -> void:
	if not _file.store_buffer(picture):
		_stop("%s: %s" % [arguments[1], error_string(_file.get_error())], CANNOT_WRITE)
		return
	frames_written += 1
	if frames_written % REPORT_EVERY == 0:
		print("frame %d" % frames_written)


func _stop(complaint: String, status: int) -> void:
	if RenderingServer.frame_post_draw.is_connected(_keep_frame):
		RenderingServer.frame_post_draw.disconnect(_keep_frame)
	if not complaint.is_empty():
		printerr(complaint)
	get_tree().quit(status)
