extends EngineTest
## What the overlay draws.
##
## needs: rendering

const PLUS := Color(0.35, 0.78, 0.98)
const MINUS := Color(1.0, 0.6, 0.3)
const SECOND_KIND := Color(1.0, 0.55, 0.2)


func test_numbers_rays_and_actions_are_drawn() -> void:
	var view := DojoView.new()
	view.title = "Runner"
	view.policy = "hard"
	view.observation_parts = [
		DojoObservationLayout.numbers("way", 2),
		DojoObservationLayout.grid("rays", [8, 3], 0.0, 1.0)
	]
	view.observation = [0.0, 0.0]
	view.action_parts = [
		DojoObservationLayout.move("run", 1), DojoObservationLayout.choice("gear", 3)
	]
	view.action = [0.0, 2.0]
	for _ray in 8:
		view.observation.append_array([1.0, 0.0, 0.0])
	var overlay := DojoOverlay.new()
	overlay.views = func() -> Array[DojoView]: return [view]
	add_child(overlay)
	var still: Image = await _picture()
	view.observation[0] = 1.0
	view.observation[1] = -1.0
	var full: Image = await _picture()
	check(_count(full, PLUS) > _count(still, PLUS) + 500, "a bar to the right")
	check(_count(full, MINUS) > _count(still, MINUS) + 500, "a bar to the left")
	view.observation[2] = 0.1
	view.observation[4] = 1.0
	var hit: Image = await _picture()
	check(_count(hit, SECOND_KIND) > _count(full, SECOND_KIND) + 300, "a ray that hit")
	view.action[0] = 1.0
	var acts: Image = await _picture()
	check(_count(acts, PLUS) > _count(hit, PLUS) + 200, "an action")
	overlay.visible = false
	var off: Image = await _picture()
	check_equal(_count(off, PLUS), 0, "nothing is left when it is off")


func _picture() -> Image:
	for _frame in 3:
		await RenderingServer.frame_post_draw
	return get_viewport().get_texture().get_image()


func _count(image: Image, color: Color) -> int:
	var found: int = 0
	for y in mini(image.get_height(), 400):
		for x in mini(image.get_width(), 320):
			var seen: Color = image.get_pixel(x, y)
			var off: float = absf(seen.r - color.r) + absf(seen.g - color.g)
			if off + absf(seen.b - color.b) < 0.06:
				found += 1
	return found
