extends EngineTest
## The settings menu of the game menu: what elements do, and what is kept.

const _FILE := "user://menu/test_menu.cfg"


func test_screens_open_and_go_back() -> void:
	var menu := _menu()
	check_equal(menu.screens.size(), 5, "screens")
	check_equal(menu.elements.size(), 20, "elements")
	_press(menu, "graphics")
	_press(menu, "advanced")
	check_equal([menu.screen, menu.depth()], ["advanced", 2], "the deepest screen")
	_press(menu, "back_from_advanced")
	check_equal([menu.screen, menu.depth()], ["graphics", 1], "one screen up")
	for screen: String in menu.screens:
		check(menu.screens[screen].size() <= MenuModel.SLOTS, screen + " has too many elements")


func test_a_slider_follows_the_grip_and_stops_at_its_ends() -> void:
	var menu := _menu()
	var slider: MenuElement = menu.element_named("music")
	slider.value = 0.5
	check(menu.press(slider) and not slider.has_answered, "the trigger moved a slider")
	check(menu.grab(slider, 0.1), "it cannot be grabbed")
	menu.drag(0.1 + 0.25 * MenuElement.SIZES[slider.kind].x)
	check_near(slider.value, 0.75, 1e-6, "the value")
	check(menu.element_at(Vector2(5.0, 5.0)) == slider, "it lost the focus while it was dragged")
	menu.drag(9.0)
	check_near(slider.value, 1.0, 1e-6, "the value at the end")
	check(menu.release() and slider.has_answered, "it did not answer")


func test_a_disabled_element_does_not_answer() -> void:
	var menu := _menu()
	check(not menu.press(menu.element_named("save")), "Save answered with nothing to save")
	var angle: MenuElement = menu.element_named("turn_angle")
	check(not menu.grab(angle, 0.0), "the angle was dragged while snap turn was off")
	check(not angle.seems_dead(), "disabled is not dead")
	_press(menu, "snap_turn")
	check(menu.grab(angle, 0.0), "the angle is still disabled")
	menu.release()


func test_changed_settings_survive_a_reload() -> void:
	var menu := _menu()
	_press(menu, "shadows")
	check(not menu.has_settings_of(MenuModel.new(_FILE)), "it was saved by itself")
	check_equal(menu.take_kept(), 0, "kept before it was saved")
	_press(menu, "save")
	check_equal(menu.take_kept(), 1, "kept")
	check_equal(menu.take_kept(), 0, "kept is counted once")
	var again := MenuModel.new(_FILE)
	check(menu.has_settings_of(again), "the reloaded menu differs")
	check_near(again.element_named("shadows").value, 1.0, 0.0, "shadows")


func test_a_dead_element_is_found_after_some_tries() -> void:
	var menu := _menu()
	for named: String in ["shadows", "music"]:
		var element: MenuElement = menu.element_named(named)
		element.is_dead = true
		for _try in MenuElement.TRIES:
			check(menu.is_left(element), named + " was given up too early")
			if element.kind == MenuElement.Kind.TOGGLE:
				check(not menu.press(element), "a dead toggle answered")
			else:
				menu.grab(element, 0.0)
				menu.drag(0.3)
				check(not menu.release(), "a dead slider answered")
		check(element.seems_dead() and not menu.is_left(element), named + " is not found dead")


func test_a_broken_file_of_settings_is_harmless() -> void:
	FileAccess.open(_FILE, FileAccess.WRITE).store_string(
		'[settings]\nmusic="loud"\nvoice=7.0\nmaster=nan\nbrightness=0.25\n'
	)
	var menu := MenuModel.new(_FILE)
	check_near(menu.element_named("music").value, 0.0, 0.0, "a text")
	check_near(menu.element_named("voice").value, 1.0, 0.0, "a number that is too large")
	check_near(menu.element_named("brightness").value, 0.25, 0.0, "a number")


## A menu without a file.
func _menu() -> MenuModel:
	DirAccess.make_dir_recursive_absolute(_FILE.get_base_dir())
	DirAccess.remove_absolute(_FILE)
	return MenuModel.new(_FILE)


func _press(menu: MenuModel, element: String) -> void:
	check(menu.press(menu.element_named(element)), element + " did not answer")
