class_name DojoSocket
extends DojoLink
## A link that speaks dojo/1 over a WebSocket.

## How long a call may ring, and how long hanging up may take, in microseconds.
const RING_US := 5_000_000
const HANG_UP_US := 300_000
## A frame longer than this is sent in pieces.
const PIECE := 1 << 20
## Frames that may wait to be sent: one that pings and does not listen makes them more and more.
const MAX_UNSENT := 256
## Bytes that are read at a time.
const READ := 1 << 18

var _tcp := StreamPeerTCP.new()
var _frames := DojoWebSocketCodec.new(MAX_MESSAGE)
var _wire := DojoWire.new()
var _greeting: Dictionary = {}
var _call: PackedByteArray
var _unsent: Array[PackedByteArray] = []
var _unsent_at: int = 0
var _called_us: int = 0
var _read_us: int = 0
var _sequence: int = 0
var _is_described: bool = false
var _is_playing: bool = false


func call_trainer(host: String, port: int, greeting: Dictionary) -> void:
	_greeting = greeting.merged({"protocol": DojoWire.PROTOCOL})
	_called_us = Time.get_ticks_usec()
	_call = _frames.request("[%s]" % host if ":" in host else host, port)
	state = LinkState.CALLING
	if port < 1 or port > 65535 or _tcp.connect_to_host(host, port) != OK:
		lose("%s:%d is no address that can be called" % [host, port])


func poll() -> void:
	if state != LinkState.CALLING and state != LinkState.OPEN:
		return
	_tcp.poll()
	var status: StreamPeerTCP.Status = _tcp.get_status()
	if status == StreamPeerTCP.STATUS_CONNECTED:
		if not _call.is_empty():
			_tcp.set_no_delay(true)
			_unsent.append(_call)
			_call = PackedByteArray()
		_send()
		_receive()
	elif status != StreamPeerTCP.STATUS_CONNECTING:
		lose("nobody answered" if state == LinkState.CALLING else "it left without a word")
	if state == LinkState.CALLING:
		_look_after_call()


func next_message() -> Dictionary:
	while state == LinkState.OPEN:
		var frame: Array = _frames.next()
		if frame.is_empty():
			if not _frames.error.is_empty():
				_give_up(_frames.error)
			return {}
		var content: PackedByteArray = frame[1]
		match frame[0]:
			DojoWebSocketCodec.CLOSE:
				var farewell: String = _text_of(content.slice(2))
				_give_up("the trainer hung up" + (": " + farewell if farewell else ""))
				return {}
			DojoWebSocketCodec.PING:
				_say(DojoWebSocketCodec.PONG, content)
			DojoWebSocketCodec.TEXT:
				return _checked(_read_text(content))
			DojoWebSocketCodec.BINARY:
				return _checked(_read_actions(content))
	return {}


func send_ready(description: Dictionary) -> void:
	_wire.set_description(description)
	_is_described = true
	_send_control("ready", description)


func send_step(results: DojoResults) -> void:
	var engine_us: int = Time.get_ticks_usec() - _read_us
	var length: int = _wire.step_length(results)
	if not _wire.error.is_empty():
		send_error(_wire.error)
		_give_up(_wire.error)
	elif state == LinkState.OPEN:
		var frame: PackedByteArray = DojoWebSocketCodec.header(DojoWebSocketCodec.BINARY, length)
		_unsent.append(_wire.write_step(frame, _sequence, engine_us, results))
		_send()


func send_plan(plan: Dictionary) -> void:
	_send_control("plan", plan)


func send_error(message: String, worlds: int = 0) -> void:
	var reason: Dictionary = {"message": message}
	if worlds > 0:
		reason["worlds"] = worlds
	_send_control("error", reason)


func hang_up(reason: String) -> void:
	if state == LinkState.OPEN or state == LinkState.CALLING:
		_give_up(reason)


func _checked(message: Dictionary) -> Dictionary:
	if not _wire.error.is_empty():
		send_error(_wire.error)
		_give_up(_wire.error)
		return {}
	if message["type"] == "error":
		_give_up("the trainer says: %s" % message["message"])
		return {}
	return message


func _read_text(content: PackedByteArray) -> Dictionary:
	_read_us = Time.get_ticks_usec()
	var message: Dictionary = _wire.read_control(_text_of(content))
	if not _wire.error.is_empty():
		return {}
	if message["type"] == "reset":
		if not _is_described:
			_wire.error = "a reset came before the worlds were configured"
		_is_playing = true
		_sequence = 0
	elif message["type"] == "epoch" and not _is_described:
		_wire.error = "an epoch came before the worlds were configured"
	elif message["type"] == "configure":
		_is_playing = false
	return message


func _read_actions(content: PackedByteArray) -> Dictionary:
	_read_us = Time.get_ticks_usec()
	if not _is_playing:
		_wire.error = "actions came before a reset"
		return {}
	# After the last number that four bytes can hold comes 1.
	_sequence = _sequence % 0xFFFFFFFF + 1
	return {"type": "act", "actions": _wire.read_actions(content, _sequence)}


func _send_control(type: String, values: Dictionary) -> void:
	_say(DojoWebSocketCodec.TEXT, _wire.write_control(type, values).to_utf8_buffer())


func _say(kind: int, content: PackedByteArray) -> void:
	if _unsent.size() > MAX_UNSENT:
		lose("it does not read what it is sent")
		_tcp.disconnect_from_host()
	elif state == LinkState.OPEN:
		var frame: PackedByteArray = DojoWebSocketCodec.header(kind, content.size())
		frame.append_array(content)
		_unsent.append(frame)
		_send()


## Sends what can be sent without waiting.
func _send() -> void:
	while not _unsent.is_empty() and _tcp.get_status() == StreamPeerTCP.STATUS_CONNECTED:
		var first: PackedByteArray = _unsent[0]
		var piece: PackedByteArray = first
		if _unsent_at > 0 or first.size() > PIECE:
			piece = first.slice(_unsent_at, _unsent_at + PIECE)
		var sent: Array = _tcp.put_partial_data(piece)
		if sent[0] != OK or sent[1] == 0:
			return
		_unsent_at += int(sent[1])
		if _unsent_at == first.size():
			_unsent.pop_front()
			_unsent_at = 0


func _receive() -> void:
	if _tcp.get_status() != StreamPeerTCP.STATUS_CONNECTED:
		return
	var available: int = _tcp.get_available_bytes()
	if available <= 0:
		return
	var received: Array = _tcp.get_partial_data(mini(available, READ))
	if received[0] == OK:
		var bytes: PackedByteArray = received[1]
		_frames.feed(bytes)


func _look_after_call() -> void:
	if _frames.is_open:
		state = LinkState.OPEN
		_send_control("hello", _greeting)
	elif not _frames.error.is_empty():
		_give_up(_frames.error)
	elif Time.get_ticks_usec() - _called_us > RING_US:
		_give_up("nobody answered")


## Closes the line for a reason of our own, giving what was said a moment to leave.
func _give_up(reason: String) -> void:
	if state == LinkState.OPEN:
		# A reason on this wire has at most 123 bytes, and a character at most four.
		var sent: String = reason if reason.to_utf8_buffer().size() <= 120 else reason.left(30)
		var content: PackedByteArray = [0x03, 0xE8]
		content.append_array(sent.to_utf8_buffer())
		_say(DojoWebSocketCodec.CLOSE, content)
	lose(reason)
	var started_us: int = Time.get_ticks_usec()
	while not _unsent.is_empty() and Time.get_ticks_usec() - started_us < HANG_UP_US:
		OS.delay_usec(500)
		_tcp.poll()
		_send()
	_tcp.disconnect_from_host()


static func _text_of(bytes: PackedByteArray) -> String:
	return bytes.get_string_from_utf8() if DojoUntrustedText.is_utf8(bytes) else ""
