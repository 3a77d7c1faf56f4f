extends SceneTree
## Takes one picture of a game of tag and saves it as PNG. Needs a display.
##
## [codeblock]
## godot --fixed-fps 60 --path godot --script res://games/tag/look/take_picture.gd \
##     -- FILE.png 1280x720 SECONDS --demo --arena=mixed ...
## [/codeblock]
## The words after SECONDS are those of the playable scene, see [TagOptions].

const SCENE: PackedScene = preload("res://games/tag/tag.tscn")
const TagScene: GDScript = preload("res://games/tag/tag.gd")
const USAGE := "usage: -- FILE.png WIDTHxHEIGHT SECONDS [options of the scene]"


func _initialize() -> void:
	var words: PackedStringArray = OS.get_cmdline_user_args()
	if words.size() < 3 or words[1].get_slice_count("x") != 2 or not words[2].is_valid_float():
		_stop(USAGE)
		return
	var options: TagOptions = TagOptions.parse(words.slice(3))
	if not options.error.is_empty():
		_stop(options.error)
		return
	var view := SubViewport.new()
	view.size = Vector2i(words[1].get_slice("x", 0).to_int(), words[1].get_slice("x", 1).to_int())
	view.msaa_3d = Viewport.MSAA_8X
	view.render_target_update_mode = SubViewport.UPDATE_DISABLED
	root.add_child.call_deferred(view)
	await view.ready
	var game: TagScene = SCENE.instantiate()
	game.arguments = words.slice(3)
	view.add_child(game)
	game.hud.hints.show_keys("", {})
	for _tick in roundi(words[2].to_float() * Engine.physics_ticks_per_second):
		await physics_frame
	view.render_target_update_mode = SubViewport.UPDATE_ALWAYS
	# Shadows are there from the second frame on.
	for _frame in 3:
		await RenderingServer.frame_post_draw
	var trouble: Error = view.get_texture().get_image().save_png(words[0])
	_stop("%s: %s" % [words[0], error_string(trouble)] if trouble != OK else "")


func _stop(complaint: String) -> void:
	if not complaint.is_empty():
		printerr(complaint)
	quit(0 if complaint.is_empty() else 2)
