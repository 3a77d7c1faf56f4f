class_name TagWorldsOptions
extends RefCounted
## What a trainer asks of tag, checked: it comes from outside.

## What there is to ask for.
const KNOWN: PackedStringArray = [
	"settings", "arenas", "generated_arenas", "generated_share", "truncate_after"
]
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
	for key: Variant in options:
		if not key is String or not KNOWN.has(key as String):
			return (
				"options: no such option %s; known: %s"
				% [DojoUntrustedText.quoted(key), " ".join(KNOWN)]
			)
	var complaint: String = ""
	if options.has("settings"):
		complaint = settings.set_all(options["settings"])
	if complaint.is_empty() and ticks_per_decision != null:
		complaint = settings.apply_override("rules.ticks_per_decision=%d" % ticks_per_decision)
	if complaint.is_empty():
		complaint = _read_numbers(options)
	if complaint.is_empty():
		complaint = _read_arenas(options)
	return complaint


## Names of the numbered arenas.
func arena_names() -> PackedStringArray:
	var names: PackedStringArray = []
	for arena in arenas.slice(0, numbered):
		names.append(arena.name)
	return names


func _read_numbers(options: Dictionary) -> String:
	var share: Variant = options.get("generated_share", 0.0)
	if not (share is float or share is int) or not (share >= 0.0 and share <= 1.0):
		return "generated_share: must be from 0 to 1, not %s" % DojoUntrustedText.quoted(share)
	var decisions: Variant = options.get("truncate_after", 0)
	if not (decisions is float or decisions is int) or not (decisions >= 0 and decisions <= 1e9):
		return (
			"truncate_after: must be 0 (never) or more, not %s"
			% DojoUntrustedText.quoted(decisions)
		)
	generated_share = share
	truncate_after = int(decisions as float)
	return ""


func _read_arenas(options: Dictionary) -> String:
	if not options.has("arenas"):
		for arena_name in ArenaData.hand_made():
			arenas.append(ArenaData.load_named(arena_name, settings))
	var complaint: String = _read_list(options, "arenas")
	numbered = arenas.size()
	if complaint.is_empty():
		complaint = _read_list(options, "generated_arenas")
	if not complaint.is_empty():
		return complaint
	var has_generated: bool = arenas.size() > numbered
	if numbered == 0 and (not has_generated or generated_share < 1.0):
		return "arenas: there must be at least one, or generated_arenas with a generated_share of 1"
	if generated_share > 0.0 and not has_generated:
		return "generated_arenas: there must be at least one where generated_share is above 0"
	for arena in arenas:
		complaint = arena.error
		if complaint.is_empty():
			complaint = TagSpawns.complaint_about(arena, settings)
		if not complaint.is_empty():
			return complaint
	return ""


func _read_list(options: Dictionary, key: String) -> String:
	var list: Variant = options.get(key, [])
	if not list is Array:
		return "%s: must be a list" % key
	var fields: Array = list
	if fields.size() > MAX_ARENAS:
		return "%s: more than %d" % [key, MAX_ARENAS]
	for index in fields.size():
		var source: String = "%s[%d]" % [key, index]
		if not fields[index] is Dictionary:
			return "%s: must be an object" % source
		arenas.append(ArenaData.from_dict(fields[index] as Dictionary, source, settings))
	return ""
