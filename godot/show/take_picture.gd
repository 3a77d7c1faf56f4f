extends SceneTree
## Takes one picture of a playable scene and saves it as PNG. Needs a display.
##
## [codeblock]
## godot --fixed-fps 60 --path godot --script res://show/take_picture.gd \
##     -- FILE.png 1280x720 SECONDS res://games/tag/tag.tscn --demo --arena=mixed ...
## [/codeblock]
## The words after the scene are its [code]arguments[/code]; its [code]hud[/code], if it has
## one, hides key hints with [code]show_hints(false)[/code].

const USAGE := "usage: -- FILE.png WIDTHxHEIGHT SECONDS SCENE [options of the scene]"


func _initialize() -> void:
	var words: PackedStringArray = OS.get_cmdline_user_args()
	if words.size() < 4 or words[1].get_slice_count("x") != 2 or not words[2].is_valid_float():
		_stop(USAGE)
		return
	var view := SubViewport.new()
	view.size = Vector2i(words[1].get_slice("x", 0).to_int(), words[1].get_slice("x", 1).to_int())
	view.msaa_3d = Viewport.MSAA_8X
	view.render_target_update_mode = SubViewport.UPDATE_DISABLED
	root.add_child.call_deferred(view)
	await view.ready
	var packed: PackedScene = load(words[3])
	if packed == null:
		_stop("%s is no scene" % words[3])
		return
	var game: Node = packed.instantiate()
	game.set(&"arguments", words.slice(4))
	view.add_child(game)
	if game.get(&"hud") is Node:
		(game.get(&"hud") as Node).call(&"show_hints", false)
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
