class_name SafeJson
extends RefCounted
## Reads JSON from strangers without a word from the engine.

## What was read; nothing when [member error] is set.
var data: Variant
## Why the text was refused; empty when it was read.
var error: String


## Reads [param text].
static func read(text: String) -> SafeJson:
	var result := SafeJson.new()
	# The engine warns about numbers with exponents beyond 511; none here needs three digits.
	var exponent: RegEx = RegEx.create_from_string("[0-9.][eE][+-]?[0-9]{3,}")
	if exponent.search(text) != null:
		result.error = "a number is too large"
		return result
	var json := JSON.new()
	if json.parse(text) == OK:
		result.data = json.data
	else:
		result.error = "no valid JSON in line %d" % (json.get_error_line() + 1)
	return result
