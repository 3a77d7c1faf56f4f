class_name DojoWebSocketCodec
extends RefCounted
## A WebSocket's bytes on the game's side, without a socket.
##
## The engine has a [WebSocketPeer]; but that one prints errors when a stranger answers the call,
## forgets what was said last when the other side closes, and sends a large frame in pieces of four
## kilobytes. Here is just what dojo/1 needs.

const TEXT := 1
const BINARY := 2
const CLOSE := 8
const PING := 9
const PONG := 10
## The longest answer to a call, in bytes.
const MAX_ANSWER := 16384
const _KINDS: PackedInt32Array = [0, TEXT, BINARY, CLOSE, PING, PONG]
const _GUID := "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

## Why the other side cannot be listened to any more; empty while it can.
var error: String = ""
## Whether it has answered the call as it should.
var is_open: bool = false

var _key: String
var _max_message: int
var _bytes := PackedByteArray()
var _at: int = 0
var _pieces := PackedByteArray()
var _pieces_kind: int = 0


## Takes messages of at most this many bytes.
func _init(max_message: int) -> void:
	_max_message = max_message
	_key = Marshalls.raw_to_base64(Crypto.new().generate_random_bytes(16))


## The call, to be sent first.
func request(host: String, port: int) -> PackedByteArray:
	var lines: PackedStringArray = [
		"GET / HTTP/1.1",
		"Host: %s:%d" % [host, port],
		"Upgrade: websocket",
		"Connection: Upgrade",
		"Sec-WebSocket-Key: " + _key,
		"Sec-WebSocket-Version: 13",
	]
	return ("\r\n".join(lines) + "\r\n\r\n").to_ascii_buffer()


## Takes in what has arrived.
func feed(bytes: PackedByteArray) -> void:
	if _at == _bytes.size():
		_bytes = bytes
	else:
		_bytes = _bytes.slice(_at)
		_bytes.append_array(bytes)
	_at = 0
	if not is_open and error.is_empty():
		_read_answer()


## The next whole message as [code][kind, bytes][/code]; empty when there is none yet. A close or a
## ping is a message too.
func next() -> Array:
	while is_open and error.is_empty():
		var start: int = _at
		var length: int = _read_header()
		if length < 0:
			return []
		var kind: int = _bytes[start] & 0x0F
		var is_last: bool = _bytes[start] & 0x80 != 0
		var content: PackedByteArray = _bytes.slice(_at, _at + length)
		_at += length
		if kind >= CLOSE or (is_last and kind != 0):
			return [kind, content]
		_pieces_kind = kind if kind != 0 else _pieces_kind
		_pieces.append_array(content)
		if _pieces.size() > _max_message:
			error = "a message is longer than %d bytes" % _max_message
		elif is_last:
			var whole: PackedByteArray = _pieces
			_pieces = PackedByteArray()
			return [_pieces_kind, whole]
	return []


## What stands before the content of a frame of this kind.
static func header(kind: int, length: int) -> PackedByteArray:
	var bytes := PackedByteArray()
	# A client has to mask what it sends with four bytes; zeros are as good as any, since what
	# masks are for, caches of strange proxies, do not stand between a game and its trainer.
	if length < 126:
		bytes.resize(6)
		bytes[1] = 0x80 | length
	elif length < 65536:
		bytes.resize(8)
		bytes[1] = 0x80 | 126
		bytes[2] = length >> 8
		bytes[3] = length & 0xFF
	else:
		bytes.resize(14)
		bytes[1] = 0x80 | 127
		for place in 4:
			bytes[6 + place] = (length >> (24 - 8 * place)) & 0xFF
	bytes[0] = 0x80 | kind
	return bytes


## Moves to the content of a whole frame and returns its length; -1 while it is not whole, or wrong.
func _read_header() -> int:
	var left: int = _bytes.size() - _at
	if left < 2:
		return -1
	var length: int = _bytes[_at + 1]
	if not _is_well_formed(_bytes[_at], length):
		error = "the other side does not speak WebSocket as it should"
		return -1
	var size: int = 2
	if length >= 126:
		size = 4 if length == 126 else 10
		if left < size:
			return -1
		length = 0
		for place in range(_at + 2, _at + size):
			length = (length << 8) | _bytes[place]
	if length < 0 or length > _max_message:
		error = "a message is longer than %d bytes" % _max_message
		return -1
	if left < size + length:
		return -1
	_at += size
	return length


## Whether a frame may begin with these two bytes: known, not masked, and short if it must be.
static func _is_well_formed(first: int, second: int) -> bool:
	var kind: int = first & 0x0F
	if kind >= CLOSE and (second > 125 or first & 0x80 == 0):
		return false
	return first & 0x70 == 0 and second & 0x80 == 0 and kind in _KINDS


func _read_answer() -> void:
	var end: int = _end_of_answer()
	if end < 0:
		if _bytes.size() > MAX_ANSWER:
			error = "the server there is no trainer"
		return
	var lines: PackedStringArray = _bytes.slice(0, end).get_string_from_ascii().split("\r\n")
	_at = end + 4
	var proof: String = Marshalls.raw_to_base64((_key + _GUID).sha1_buffer())
	is_open = lines[0].begins_with("HTTP/1.1 101")
	var is_proven: bool = false
	for line in lines:
		if line.get_slice(":", 0).to_lower() == "sec-websocket-accept":
			is_proven = line.substr(line.find(":") + 1).strip_edges() == proof
	is_open = is_open and is_proven
	if not is_open:
		error = "the server there is no trainer"


func _end_of_answer() -> int:
	var place: int = _bytes.find(13)
	while place >= 0 and place + 3 < _bytes.size():
		if _bytes[place + 1] == 10 and _bytes[place + 2] == 13 and _bytes[place + 3] == 10:
			return place
		place = _bytes.find(13, place + 1)
	return -1
