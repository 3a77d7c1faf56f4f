class_name DojoSafeJson
extends RefCounted
## Reads JSON from strangers without a word from the engine.

## A text in JSON, quotes included.
const _TEXT := '(?s)"(?:[^"\\\\]++|\\\\.)*+"'
## The engine warns about numbers with exponents beyond 511; no great number needs three digits, and
## a tiny one may have them.
const _HUGE := "[0-9.][eE](?:[+]?[0-9]{3,}|-(?:[5-9][0-9]{2}|[0-9]{4,}))"
## The engine complains about the character 0.
const _ZERO := "(?<!\\\\)(?:\\\\\\\\)*\\\\u0000"

## What was read; nothing when [member error] is set.
var data: Variant
## Why the text was refused; empty when it was read.
var error: String


## Reads [param text].
static func read(text: String) -> DojoSafeJson:
	var result := new()
	var json := JSON.new()
	if text.contains("u0000") and RegEx.create_from_string(_ZERO).search(text) != null:
		result.error = "a text has the character 0"
	elif _has_huge_number(text):
		result.error = "a number is too large"
	elif json.parse(text) == OK:
		result.data = json.data
	else:
		result.error = "no valid JSON in line %d" % (json.get_error_line() + 1)
	return result


static func _has_huge_number(text: String) -> bool:
	if not text.containsn("e"):
		return false
	var without_texts := RegEx.create_from_string(_TEXT).sub(text, '""', true)
	return RegEx.create_from_string(_HUGE).search(without_texts) != null
