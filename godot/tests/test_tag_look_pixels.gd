extends EngineTest
## Agents are seen: their colours are looked for in rendered frames, where the camera says they are.
##
## needs: rendering

const SCENE: PackedScene = preload("res://games/tag/tag.tscn")
const TagScene: GDScript = preload("res://games/tag/tag.gd")
const SCREEN := Vector2i(640, 360)
## Physics ticks between two moments looked at (not a divisor of a round).
const TICKS_BETWEEN: int = 23
## An agent counts as seen when so much of the rectangle around its collider has its colour.
const SEEN_SHARE: float = 0.12

var _view := SubViewport.new()


func _exit_tree() -> void:
	RenderingServer.render_loop_enabled = true


func test_both_are_seen_in_open() -> void:
	await _check_seen("open", "overview")


func test_both_are_seen_in_pillars() -> void:
	await _check_seen("pillars", "overview")


func test_both_are_seen_in_maze() -> void:
	await _check_seen("maze", "overview")


func test_both_are_seen_in_platforms() -> void:
	await _check_seen("platforms", "overview")


func test_both_are_seen_in_mixed() -> void:
	await _check_seen("mixed", "overview")


func test_both_are_seen_from_the_side() -> void:
	await _check_seen("pillars", "side")


func test_the_followed_one_is_seen() -> void:
	await _check_seen("maze", "follow")


func test_an_agent_behind_every_block_is_seen() -> void:
	var game: TagScene = await _start(["--arena=pillars", "--demo"])
	game.set_physics_process(false)
	for box in game.world.arena.boxes:
		# Right behind it: without a window the block would hide the agent from the overview.
		var behind := Vector3(box.position.x, 0.0, box.position.z - box.size.z * 0.5 - 0.5)
		game.world.agents[1].position = behind + Vector3.UP * 0.451
		await ticks(20)
		var share: float = _share(await _picture(), game, 1)
		check(share >= SEEN_SHARE, "behind the block at %s: %f" % [box.position, share])


func test_nothing_else_has_their_colours() -> void:
	for arena in ArenaData.hand_made():
		var game: TagScene = await _start(["--arena=" + arena, "--demo"])
		game.set_physics_process(false)
		for agent in game.world.agents:
			agent.active = false
		await ticks(90)
		game.hud.visible = false
		var picture: Image = await _picture()
		var found: int = 0
		for y in SCREEN.y:
			for x in SCREEN.x:
				var color: Color = picture.get_pixel(x, y)
				found += 1 if _is_orange(color) or _is_blue(color) else 0
		check(found < 20, "%s: %d pixels look like an agent" % [arena, found])
		game.queue_free()
		await ticks(2)


func _check_seen(arena: String, camera: String) -> void:
	var game: TagScene = await _start(["--demo", "--arena=" + arena, "--camera=" + camera])
	var looked: int = 0
	var seen: int = 0
	var least: float = 1.0
	while looked < repeats(8, 24) * (1 if camera == "follow" else 2):
		await ticks(TICKS_BETWEEN)
		if game.world.round_over:
			continue
		var picture: Image = await _picture()
		for agent in game.world.agents:
			if camera != "follow" or agent.index == game.look.hero:
				var share: float = _share(picture, game, agent.index)
				looked += 1
				seen += 1 if share >= SEEN_SHARE else 0
				least = minf(least, share)
	print("%s, %s: seen %d of %d times, least share %.2f" % [arena, camera, seen, looked, least])
	check(seen >= 0.95 * looked, "seen only %d of %d times" % [seen, looked])


func _start(words: PackedStringArray) -> TagScene:
	if not _view.is_inside_tree():
		_view.size = SCREEN
		_view.render_target_update_mode = SubViewport.UPDATE_DISABLED
		_view.msaa_3d = Viewport.MSAA_DISABLED
		add_child(_view)
		RenderingServer.render_loop_enabled = false  # frames nobody asks for are not drawn
	var game: TagScene = SCENE.instantiate()
	game.arguments = words
	_view.add_child(game)
	await ticks(3)
	return game


func _picture() -> Image:
	_view.render_target_update_mode = SubViewport.UPDATE_ONCE
	RenderingServer.render_loop_enabled = true
	await RenderingServer.frame_post_draw
	RenderingServer.render_loop_enabled = false
	return _view.get_texture().get_image()


## How much of the rectangle around an agent's collider has the agent's colour.
func _share(picture: Image, game: TagScene, index: int) -> float:
	var agent: TagAgent = game.world.agents[index]
	var middle: Vector3 = agent.get_global_transform_interpolated().origin
	var size: Vector3 = Vector3.ONE * game.world.settings.body.size_m
	var camera: Camera3D = game.look.rig.camera
	var rect := Rect2(camera.unproject_position(middle), Vector2.ZERO)
	for corner in 8:
		var point: Vector3 = AABB(middle - size * 0.5, size).get_endpoint(corner)
		rect = rect.expand(camera.unproject_position(point))
	var inside: Rect2i = Rect2i(rect).intersection(Rect2i(Vector2i.ZERO, SCREEN))
	var found: int = 0
	for y in range(inside.position.y, inside.end.y):
		for x in range(inside.position.x, inside.end.x):
			var color: Color = picture.get_pixel(x, y)
			found += 1 if (_is_orange(color) if agent.is_seeker_like else _is_blue(color)) else 0
	return found / maxf(rect.get_area(), 1.0)


func _is_orange(color: Color) -> bool:
	return color.s > 0.7 and color.v > 0.4 and color.h > 0.03 and color.h < 0.14


func _is_blue(color: Color) -> bool:
	return color.s > 0.7 and color.v > 0.4 and color.h > 0.55 and color.h < 0.7
