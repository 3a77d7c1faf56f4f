class_name DojoWire
extends RefCounted
## The bytes of dojo/1, without a socket: reads what trainers send, writes what games answer.
##
## Nothing here trusts a trainer: each reader returns what it read and leaves a sentence in
## [member error] when that is not what the protocol allows.

const PROTOCOL := "dojo/1"
const ACTIONS := 1
const STEP := 2
const ACTIONS_HEADER := 8
const STEP_HEADER := 16
## The largest step a game sends, in bytes.
const MAX_STEP := 64 << 20
const MAX_WORLDS := 4096
const MAX_TICKS := 1000
## Beyond this, numbers of JSON are no longer whole ones.
const MAX_SEED := 9007199254740991

## Messages that only say something, and where.
const _SAID: Dictionary[String, String] = {"notice": "text", "close": "reason", "error": "message"}

## What was wrong with the last thing read or written; empty when it was fine.
var error: String = ""
## Bytes of one actions frame; -1 until [method set_description].
var actions_length: int = -1

var _rows: PackedInt32Array
var _observation_sizes: PackedInt32Array
var _measures: PackedInt32Array
var _observation_numbers: int = 0
var _row_count: int = 0
var _terms: int = 0
var _truth_numbers: int = 0


## Learns what steps and actions look like from the description in [code]ready[/code].
func set_description(description: Dictionary) -> void:
	var worlds: int = description["worlds"]
	_rows = PackedInt32Array()
	_observation_sizes = PackedInt32Array()
	_measures = PackedInt32Array()
	_observation_numbers = 0
	_row_count = 0
	var terms: Array = Array(description["reward_terms"])
	_terms = terms.size()
	var truth: Array = description.get("truth", [])
	_truth_numbers = worlds * DojoObservationLayout.observation_size(truth)
	var action_numbers: int = 0
	for role: Dictionary in description["roles"]:
		var observation_parts: Array = role["observation"]
		var action_parts: Array = role["action"]
		var rows: int = worlds * int(role["agents"])
		var size: int = DojoObservationLayout.observation_size(observation_parts)
		_rows.append(rows)
		_observation_sizes.append(size)
		_measures.append(Array(role.get("measures", [])).size())
		_row_count += rows
		_observation_numbers += rows * size
		action_numbers += rows * DojoObservationLayout.action_size(action_parts)
	actions_length = ACTIONS_HEADER + 4 * action_numbers


## The actions in a binary frame that must carry this sequence number.
func read_actions(frame: PackedByteArray, sequence: int) -> PackedFloat32Array:
	error = ""
	if frame.size() != actions_length:
		error = "an actions frame has %d bytes instead of %d" % [frame.size(), actions_length]
	elif frame[0] != ACTIONS or frame[1] != 0 or frame[2] != 0 or frame[3] != 0:
		error = "a binary frame is no actions frame"
	elif frame.decode_u32(4) != sequence:
		error = "actions number %d came instead of %d" % [frame.decode_u32(4), sequence]
	if not error.is_empty():
		return PackedFloat32Array()
	var actions: PackedFloat32Array = frame.slice(ACTIONS_HEADER).to_float32_array()
	# Nothing in the engine looks for NaN in a whole array; actions are few.
	for number in actions:
		if not is_finite(number):
			error = "an action is not a number"
			return PackedFloat32Array()
	return actions


## How many bytes [method write_step] will append; 0 with an [member error] if [param results] do
## not fit the description.
func step_length(results: DojoResults) -> int:
	error = _complaint(results)
	if not error.is_empty():
		return 0
	var length: int = STEP_HEADER + 4 * _rows.size() + _row_count
	length += 4 * (_observation_numbers + _row_count * _terms + results.ended.size())
	length += 4 * _truth_numbers
	for role in _rows.size():
		var numbers: int = 1 + _observation_sizes[role] + _terms + 1 + _measures[role]
		length += 4 * results.final_rows[role].size() * numbers
	if length > MAX_STEP:
		error = "a step has %d bytes, more than %d; play fewer worlds" % [length, MAX_STEP]
		return 0
	return length


## The step that carries [param results], behind the bytes in [param frame].
func write_step(
	frame: PackedByteArray, sequence: int, engine_us: int, results: DojoResults
) -> PackedByteArray:
	var roles: int = _rows.size()
	var at: int = frame.size()
	frame.resize(at + STEP_HEADER + 4 * roles)
	frame[at] = STEP
	frame.encode_u32(at + 4, sequence)
	frame.encode_u32(at + 8, mini(engine_us, 0xFFFFFFFF))
	frame.encode_u32(at + 12, results.ended.size() >> 2)
	for role in roles:
		frame.encode_u32(at + STEP_HEADER + 4 * role, results.final_rows[role].size())
	frame.append_array(results.observation.to_byte_array())
	frame.append_array(results.terms.to_byte_array())
	if _truth_numbers > 0:
		frame.append_array(results.truth.to_byte_array())
	if not results.ended.is_empty():
		frame.append_array(results.ended.to_byte_array())
	for role in roles:
		if not results.final_rows[role].is_empty():
			frame.append_array(results.final_rows[role].to_byte_array())
			frame.append_array(results.final_observation[role].to_byte_array())
			frame.append_array(results.final_terms[role].to_byte_array())
			frame.append_array(results.final_score[role].to_byte_array())
			frame.append_array(results.final_measures[role].to_byte_array())
	frame.append_array(results.flags)
	return frame


## The control message in a text frame, with what [DojoLink] promises about it.
func read_control(text: String) -> Dictionary:
	error = ""
	var json: DojoSafeJson = DojoSafeJson.read(text)
	if not json.error.is_empty() or not json.data is Dictionary:
		return _refuse("a text is no JSON object")
	var message: Dictionary = json.data
	var type: String = _text(message.get("type"))
	match type:
		"configure":
			return _read_configure(message)
		"reset":
			return _read_reset(message)
		"epoch":
			return _read_epoch(message)
	if not _SAID.has(type):
		return _refuse("a message has an unknown type")
	var said: Dictionary = {"type": type, _SAID[type]: _text(message.get(_SAID[type]))}
	if message.get("status") is Dictionary:
		said["status"] = message["status"]
	return said


## The text of a control message.
func write_control(type: String, values: Dictionary) -> String:
	var message: Dictionary = {"type": type}
	message.merge(values)
	return JSON.stringify(message, "", false)


func _refuse(why: String) -> Dictionary:
	error = why
	return {}


func _read_reset(message: Dictionary) -> Dictionary:
	var number: Variant = _whole(message.get("seed"), 0, MAX_SEED)
	return _refuse("a reset has no seed") if number == null else {"type": "reset", "seed": number}


func _read_epoch(message: Dictionary) -> Dictionary:
	var number: Variant = _whole(message.get("epoch"), 0, MAX_SEED)
	if number == null:
		return _refuse("an epoch has no number")
	return {"type": "epoch", "epoch": number}


func _read_configure(message: Dictionary) -> Dictionary:
	var worlds: Variant = _whole(message.get("worlds"), 1, MAX_WORLDS)
	var ticks: Variant = message.get("ticks_per_decision")
	var options: Variant = message.get("options", {})
	if worlds == null:
		error = "the number of worlds must be a whole number from 1 to %d" % MAX_WORLDS
	elif ticks != null and _whole(ticks, 1, MAX_TICKS) == null:
		error = "ticks_per_decision must be a whole number from 1 to %d" % MAX_TICKS
	elif not options is Dictionary:
		error = "options must be an object"
	elif not message.get("truth", false) is bool:
		error = "truth must be true or false"
	if not error.is_empty():
		return {}
	return {
		"type": "configure",
		"worlds": worlds,
		"ticks_per_decision": null if ticks == null else _whole(ticks, 1, MAX_TICKS),
		"options": options,
		"truth": message.get("truth", false),
	}


## Whether the results are as long as described; the contents are the game's own business.
func _complaint(results: DojoResults) -> String:
	var fits: bool = (
		results.observation.size() == _observation_numbers
		and results.terms.size() == _row_count * _terms
		and results.flags.size() == _row_count
		and (_truth_numbers == 0 or results.truth.size() == _truth_numbers)
		and results.ended.size() % 4 == 0
		and results.final_rows.size() == _rows.size()
	)
	if fits:
		for role in _rows.size():
			var ends: int = results.final_rows[role].size()
			fits = (
				fits
				and ends <= _rows[role]
				and results.final_observation[role].size() == ends * _observation_sizes[role]
				and results.final_terms[role].size() == ends * _terms
				and results.final_score[role].size() == ends
				and results.final_measures[role].size() == ends * _measures[role]
			)
	return "" if fits else "the worlds gave results of another size than they described"


static func _whole(value: Variant, low: int, high: int) -> Variant:
	if not (value is float or value is int):
		return null
	var number: float = value
	if not is_finite(number) or number != floorf(number) or number < low or number > high:
		return null
	return int(number)


static func _text(value: Variant) -> String:
	var words: String = value if value is String else ""
	return words.left(1000)
