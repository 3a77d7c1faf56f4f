class_name DojoUntrustedText
extends RefCounted
## What strangers wrote: how to repeat it in a complaint of one line, and what it may be.

## Longest piece of it that is repeated.
const MOST_LETTERS := 80
## Letters that a person cannot see, line breaks among them; for regular expressions.
const UNSEEN := "\\x00-\\x1f\\x7f-\\x9f\\x{2028}\\x{2029}"
## The error message for a word that is no whole number.
const WHOLE := "must be a whole number of at most 15 digits, not %s"

# Hexadecimal digits of ASCII without the character 0.
const _ASCII := "(?:0[1-9a-f]|[1-7][0-9a-f])*+"


## [param value] as text for a complaint: short, and without anything that would break its line.
static func quoted(value: Variant, most_letters: int = MOST_LETTERS) -> String:
	var text: String = str(value).left(most_letters)
	text = text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
	return RegEx.create_from_string("[%s]" % UNSEEN).sub(text, "?", true)


## Whether all of [param text] follows [param pattern], a regular expression.
static func is_like(text: String, pattern: String) -> bool:
	return RegEx.create_from_string("\\A(?:%s)\\z" % pattern).search(text) != null


## Whether [param text] is a whole number that the engine reads without complaint.
static func is_whole(text: String) -> bool:
	return is_like(text, "[+-]?[0-9]{1,15}")


## Whether [param bytes] are UTF-8 without the character 0; the engine would complain about others.
static func is_utf8(bytes: PackedByteArray) -> bool:
	# Nearly all texts are ASCII, which the engine can check at once.
	if is_like(bytes.hex_encode(), _ASCII):
		return true
	var following: int = 0
	# What the next byte may be: not every start goes with every second byte.
	var least: int = 0x80
	var most: int = 0xBF
	for byte in bytes:
		if following > 0:
			if byte < least or byte > most:
				return false
			following -= 1
			least = 0x80
			most = 0xBF
		elif byte >= 0xC2 and byte <= 0xDF:
			following = 1
		elif byte >= 0xE0 and byte <= 0xEF:
			following = 2
			least = 0xA0 if byte == 0xE0 else 0x80
			most = 0x9F if byte == 0xED else 0xBF
		elif byte >= 0xF0 and byte <= 0xF4:
			following = 3
			least = 0x90 if byte == 0xF0 else 0x80
			most = 0x8F if byte == 0xF4 else 0xBF
		elif byte >= 0x80 or byte == 0:
			return false
	return following == 0
