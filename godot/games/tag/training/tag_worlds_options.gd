class_name TagWorldsOptions
extends RefCounted
## What a trainer asks of tag, checked: it comes from outside.

## The options; without arenas, the hand-made ones are played.
const DEFAULTS := {
	"settings": {},
	"arenas": [],
	"generated_arenas": [],
	"generated_share": 0.0,
	"truncate_after": 0,
}
## Most arenas that can be sent along.
const MAX_ARENAS := 1024

## Every number of the game.
var settings: TagSettings = TagSettings.load_defaults()
## Where rounds are played, those made by the trainer last.
var arenas: Array[ArenaData] = []
## How many of them, from the first, have a number of their own.
var numbered: int = 0
## How many of all rounds are played in the others.
var generated_share: float = 0.0
## Decisions after which a round is cut short; 0 for never.
var truncate_after: int = 0


## Takes over what is asked for. Returns an error message, or an empty text.
func read(options: Dictionary, ticks_per_decision: Variant) -> String:
	var fields: DojoFields = DojoFields.options(options, DEFAULTS)
	generated_share = fields.number("generated_share", 0.0, 1.0)
	truncate_after = int(fields.number("truncate_after", 0.0, 1e9))
	var complaint: String = fields.error()
	if complaint.is_empty() and options.has("settings"):
		complaint = settings.set_all(options["settings"])
	if complaint.is_empty() and ticks_per_decision != null:
		complaint = settings.apply_override("rules.ticks_per_decision=%d" % ticks_per_decision)
	if complaint.is_empty():
		complaint = _read_arenas(fields, options.has("arenas"))
	return complaint


## Names of the numbered arenas.
func arena_names() -> PackedStringArray:
	var names: PackedStringArray = []
	for arena in arenas.slice(0, numbered):
		names.append(arena.name)
	return names


func _read_arenas(fields: DojoFields, has_arenas: bool) -> String:
	if not has_arenas:
		for arena_name in ArenaData.hand_made():
			arenas.append(ArenaData.load_named(arena_name, settings))
	_append_arenas(fields, "arenas")
	numbered = arenas.size()
	_append_arenas(fields, "generated_arenas")
	var has_generated: bool = arenas.size() > numbered
	fields.require(
		numbered > 0 or (has_generated and generated_share == 1.0),
		"arenas",
		"there must be at least one, or generated_arenas with a generated_share of 1"
	)
	fields.require(
		has_generated or generated_share == 0.0,
		"generated_arenas",
		"there must be at least one where generated_share is above 0"
	)
	for arena in arenas:
		var complaint: String = fields.error() if fields.error() else arena.error
		if complaint.is_empty():
			complaint = TagSpawns.complaint_about(arena, settings)
		if not complaint.is_empty():
			return complaint
	return fields.error()


func _append_arenas(fields: DojoFields, key: String) -> void:
	var list: Array = fields.list(key, 0, MAX_ARENAS)
	for index in list.size():
		var source: String = "%s[%d]" % [key, index]
		fields.require(list[index] is Dictionary, source, "must be an object")
		if list[index] is Dictionary:
			arenas.append(ArenaData.from_dict(list[index] as Dictionary, source, settings))
