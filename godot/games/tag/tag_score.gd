class_name TagScore
extends RefCounted
## Keeps the score of an evening of tag and puts it into words for the HUD.

## More players than this get short names and whole seconds.
const MANY: int = 4
## What keys do.
const PLAYER_KEYS: Dictionary[String, String] = {"W A S D": "move", "Space": "jump"}
const WATCHER_KEYS: Dictionary[String, String] = {"Tab": "camera", "R": "restart", "Esc": "quit"}
const ATTRACT := "Move to play"

var _world: TagWorld
var _human: int
var _titles: Dictionary[StringName, String]
var _wins: Dictionary[StringName, int] = {&"seeker": 0, &"hider": 0}


## Keeps the score of [param world]; [param human] is the index of the agent at the keyboard, -1
## for none. [param titles] says of roles who plays them, if it is somebody special.
func _init(world: TagWorld, human: int, titles: Dictionary[StringName, String] = {}) -> void:
	_world = world
	_human = human
	_titles = titles


## Counts the round that has just ended.
func count_round() -> void:
	if _wins.has(_world.winner):
		_wins[_world.winner] += 1


## Shows who plays and how they stand.
func show_on(hud: ShowHud) -> void:
	var names: PackedStringArray = []
	var colors: PackedColorArray = []
	var scores: PackedStringArray = []
	if _is_classic():
		var many: bool = _world.agents.size() > MANY
		for agent in _world.agents:
			names.append(_player_name(agent.index, many))
			colors.append(TagStyle.agent_color(agent.is_seeker_like))
			scores.append(("%.0f" if many else "%.1f") % _world.scores[agent.index])
	else:
		for role: StringName in _wins:
			names.append(_role_name(role) + _left(role) + _addition(role))
			colors.append(TagStyle.agent_color(role == &"seeker"))
			scores.append(str(_wins[role]))
	hud.show_parties(names, colors, scores)


## Says who won, beside what is at the points of the screen to [param keep_clear].
func announce_on(hud: ShowHud, keep_clear: PackedVector2Array) -> void:
	if _is_classic():
		_announce_classic(hud, keep_clear)
		return
	var role: StringName = _world.winner
	var verb: String = "wins" if _count(role) == 1 else "win"
	var title: String = "%s %s" % [_role_name(role), verb]
	if _is_human(role):
		title = "You win!" if _count(role) == 1 else "Your team wins!"
	hud.show_banner(title, _how(role), _title_color(role == &"seeker"), keep_clear)


## What a newcomer has to do.
func task() -> String:
	if _human < 0:
		return ""
	if _is_classic():
		return "Whoever is orange is it: run from it, or pass it on"
	if _world.agents[_human].role == &"seeker":
		var prey: String = "the blue one" if _count(&"hider") == 1 else "every blue one"
		return "You are orange: touch " + prey
	return "You are blue: keep away from orange"


## Keys and what they do.
func keys() -> Dictionary[String, String]:
	return PLAYER_KEYS.merged(WATCHER_KEYS) if _human >= 0 else WATCHER_KEYS


func _announce_classic(hud: ShowHud, keep_clear: PackedVector2Array) -> void:
	var best: int = _world.winner_index
	if best < 0:
		hud.show_banner("A draw", "", ShowStyle.PAPER, keep_clear)
		return
	var title: String = "You win!" if best == _human else "%s wins" % _player_name(best)
	var text: String = "%.1f seconds not being it" % _world.scores[best]
	hud.show_banner(title, text, _title_color(_world.agents[best].is_seeker_like), keep_clear)


## How the round was won by [param role], in a few words.
func _how(role: StringName) -> String:
	var played_s: float = _world.tick_number * TagAgent.TICK_S
	var hiders: int = _count(&"hider")
	if role == &"seeker":
		var who: String = "Caught" if hiders == 1 else "All %d caught" % hiders
		return "%s after %.1f seconds" % [who, played_s]
	if hiders == 1:
		return "Not caught in %.0f seconds" % played_s
	return "%d of %d caught in %.0f seconds" % [hiders - _hiders_left(), hiders, played_s]


## Where there are several hiders: how many are left, for the name of their team.
func _left(role: StringName) -> String:
	var hiders: int = _count(&"hider")
	return " %d/%d" % [_hiders_left(), hiders] if role == &"hider" and hiders > 1 else ""


func _hiders_left() -> int:
	var left: int = 0
	for agent in _world.agents:
		if agent.active and agent.role == &"hider":
			left += 1
	return left


func _title_color(hunts: bool) -> Color:
	return ShowStyle.letter_color(TagStyle.agent_color(hunts))


func _is_classic() -> bool:
	return _world.settings.rules.mode == &"classic"


func _is_human(role: StringName) -> bool:
	return _human >= 0 and _world.agents[_human].role == role


func _addition(role: StringName) -> String:
	if _is_human(role):
		return " (you)"
	var title: String = _titles.get(role, "")
	# The files of a run are named after their roles.
	return " (%s)" % title.left(16) if title and title != role else ""


func _player_name(index: int, short: bool = false) -> String:
	if index == _human:
		return "You"
	return ("P%d" if short else "Player %d") % (index + 1)


func _role_name(role: StringName) -> String:
	var one: String = String(role).capitalize()
	return one if _count(role) == 1 else one + "s"


func _count(role: StringName) -> int:
	return _world.settings.rules.seekers if role == &"seeker" else _world.settings.rules.hiders
