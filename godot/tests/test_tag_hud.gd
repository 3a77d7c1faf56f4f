extends EngineTest
## What the HUD of tag tells a player: the result beside the catch, arrows, and keys at the start.

const SCENE: PackedScene = preload("res://games/tag/tag.tscn")
const TagScene: GDScript = preload("res://games/tag/tag.gd")


func test_the_result_is_shown_beside_what_happened() -> void:
	var game: TagScene = await _start(["--demo", "--arena=open"])
	var screen: Vector2 = get_viewport().get_visible_rect().size
	for x: float in [0.1, 0.5, 0.9]:
		for y in 21:
			var point: Vector2 = screen * Vector2(x, y / 20.0)
			game.hud.show_banner("Seekers win", "Caught after 12.3 seconds", Color.WHITE, [point])
			var gap: Rect2 = game.hud.banner_rect().grow(
				ShowHud.BANNER_ROOM * game.hud.factor * 0.9
			)
			check(not gap.has_point(point), "%s is covered by %s" % [point, gap])
			check(
				Rect2(Vector2.ZERO, screen).encloses(game.hud.banner_rect()),
				"%s is off screen" % game.hud.banner_rect()
			)


func test_the_result_does_not_cover_the_catch() -> void:
	for camera in CameraRig.NAMES:
		for place: Vector2 in [Vector2(0, -8), Vector2(0, 0), Vector2(2, 8)]:
			var game: TagScene = await _start(["--demo", "--arena=open", "--camera=" + camera])
			for _tick in 120:
				if game.world.round_over:
					break
				for agent in game.world.agents:
					var beside: float = place.x + agent.index * 0.92
					agent.position = Vector3(beside, agent.position.y, place.y)
				await ticks(1)
			check_equal(game.hud.shown_banner(), "Seeker wins", "%s: result" % camera)
			for point in game.look.screen_points():
				var is_covered: bool = game.hud.banner_rect().has_point(point)
				check(not is_covered, "%s: the catch at %s is covered" % [camera, place])
			game.queue_free()
			await ticks(2)


func test_arrows_point_at_opponents_off_screen() -> void:
	var area := Vector2(1280, 720)
	var camera := Camera3D.new()
	add_child(camera)
	camera.look_at_from_position(Vector3(0, 4, 6), Vector3.ZERO)
	var ways: Dictionary[Vector3, Vector2] = {
		Vector3(-40, 0, 0): Vector2.LEFT,
		Vector3(40, 0, 0): Vector2.RIGHT,
		Vector3(0, 0, 30): Vector2.DOWN,
		Vector3(0, 0, 6): Vector2.DOWN,
		Vector3(0, 60, -5): Vector2.UP,
	}
	for place in ways:
		var point: Vector2 = OpponentArrows.on_screen(camera, place, area)
		check(not Rect2(Vector2.ZERO, area).has_point(point), "%s is on screen" % place)
		var arrow: Vector2 = OpponentArrows.edge_point(point, area)
		check(Rect2(Vector2.ZERO, area).grow(-40.0).has_point(arrow), "arrow at %s" % arrow)
		var way: Vector2 = (arrow - area * 0.5).normalized()
		check(way.dot(ways[place]) > 0.7, "the arrow to %s goes %s" % [place, way])
	var middle: Vector2 = OpponentArrows.on_screen(camera, Vector3.ZERO, area)
	check(middle.is_equal_approx(area * 0.5), "what the camera looks at is at %s" % middle)
	var raised: Vector2 = OpponentArrows.edge_point(Vector2(640, 2000), area, 100.0)
	check(raised.y <= area.y - 100.0, "an arrow at %s is below the edge" % raised)


func test_a_player_is_pointed_at_an_opponent_off_screen() -> void:
	var game: TagScene = await _start(["--arena=open", "--opponent=scripted", "--camera=follow"])
	var human: TagAgent = game.world.agents[game.look.human]
	var back := Vector3(sin(human.heading_rad), 0.0, cos(human.heading_rad))
	for behind: bool in [true, false]:
		for _tick in 30:
			game.world.agents[1].position = human.position - back * (8.0 if behind else -4.0)
			await ticks(1)
		check_equal(game.hud.arrows.shown(), int(behind), "arrows, opponent behind: %s" % behind)
	game.look.rig.mode = CameraRig.Mode.OVERVIEW
	await ticks(30)
	check_equal(game.hud.arrows.shown(), 0, "arrows where everybody is seen")


func test_keys_are_shown_at_the_start() -> void:
	var game: TagScene = await _start(["--arena=open", "--opponent=scripted", "--role=hider"])
	var shown: PackedStringArray = []
	for label: Label in game.hud.hints.find_children("*", "Label", true, false):
		shown.append(label.text.strip_edges())
	for word: String in ["W", "A", "S", "D", "Space", "Tab", "You are blue: keep away from orange"]:
		check(word in shown, "%s is not among %s" % [word, shown])
	await ticks(120)
	check(game.hud.hints.visible, "the keys are gone before anybody could read them")
	game.hud.hints.fade()
	await ticks(roundi((KeyHints.LEAST_S + KeyHints.FADE_S) * 60.0) - 100)
	check(not game.hud.hints.visible, "the keys stay although somebody plays")


func test_keys_go_by_themselves() -> void:
	var hints := KeyHints.new()
	add_child(hints)
	await ticks(2)
	check(not hints.visible, "nothing is to be shown yet")
	hints.show_keys("Play", {"Esc": "quit"})
	await ticks(roundi((KeyHints.STAY_S - 0.2) * 60.0))
	check(hints.modulate.a > 0.99, "the keys fade too early")
	await ticks(roundi((KeyHints.FADE_S + 0.4) * 60.0))
	check(not hints.visible, "the keys stay")
	hints.show_keys("", {})
	await ticks(2)
	check(not hints.visible, "nothing is shown")


func _start(words: PackedStringArray) -> TagScene:
	var game: TagScene = SCENE.instantiate()
	game.arguments = words
	add_child(game)
	await ticks(2)
	return game
