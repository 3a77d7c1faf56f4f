# Every check that fails leaves its function at once.
# gdlint: disable=max-returns
class_name DojoHttpParser
extends RefCounted
## Turns bytes into requests of HTTP/1.1, within limits. It knows nothing of sockets.
##
## After an error nothing more is read: the line has to be closed once the complaint is sent.

## First line and headers together.
const MAX_HEAD := 8192
const MAX_FIRST_LINE := 2048
const MAX_HEADERS := 64
const _MAX_KNOWN := 16
const _CR := 13
const _LF := 10
const _TOKEN := "[!#$%&'*+.^_`|~0-9A-Za-z-]+"

static var _method := RegEx.create_from_string("\\A[A-Z]{1,16}\\z")
static var _target := RegEx.create_from_string("\\A/[\\x21-\\x7e]*\\z")
static var _header := RegEx.create_from_string("\\A(%s):[ \\t]*(.*?)[ \\t]*\\z" % _TOKEN)
static var _length := RegEx.create_from_string("\\A[0-9]{1,15}\\z")

## Status to answer with when the bytes are no request that is read here; 0 while all is well.
var error_status: int = 0
## The same as a sentence.
var error: String = ""

var _max_body: int
var _buffer := PackedByteArray()
# Up to here there is no end of the head.
var _scanned: int = 0
# The request whose body is being waited for.
var _waiting: DojoHttpRequest
# Requests by their heads: a client that repeats a head does not have it read again.
var _known: Dictionary[PackedByteArray, DojoHttpRequest] = {}


func _init(max_body: int = 65536) -> void:
	_max_body = max_body


## Takes [param bytes] in.
func feed(bytes: PackedByteArray) -> void:
	if error_status == 0:
		_buffer.append_array(bytes)


## The next whole request, or null.
func next() -> DojoHttpRequest:
	if error_status == 0 and _waiting == null:
		_read_head()
	if error_status != 0 or _waiting == null or _buffer.size() < _waiting.body_size:
		return null
	var request: DojoHttpRequest = _waiting.duplicate()
	request.body = _buffer.slice(0, request.body_size)
	_buffer = _buffer.slice(request.body_size)
	_waiting = null
	_scanned = 0
	return request


## Whether a request has begun and is not whole yet.
func is_amid() -> bool:
	return _waiting != null or not _buffer.is_empty()


func _read_head() -> void:
	# Some clients send an empty line after a body.
	while _scanned == 0 and _buffer.size() >= 2 and _buffer[0] == _CR and _buffer[1] == _LF:
		_buffer = _buffer.slice(2)
	var end: int = _find_end()
	if end < 0:
		if _buffer.size() > MAX_FIRST_LINE and _buffer.slice(0, MAX_FIRST_LINE).find(_CR) < 0:
			_refuse(414, "the first line is longer than %d bytes" % MAX_FIRST_LINE)
		elif _buffer.size() > MAX_HEAD:
			_refuse(431, "the headers are longer than %d bytes" % MAX_HEAD)
		return
	if end > MAX_HEAD:
		_refuse(431, "the headers are longer than %d bytes" % MAX_HEAD)
		return
	var head: PackedByteArray = _buffer.slice(0, end)
	_buffer = _buffer.slice(end + 4)
	_waiting = _known.get(head)
	if _waiting != null:
		return
	for byte in head:
		if byte >= 0x7F or (byte < 0x20 and byte != _CR and byte != _LF and byte != 9):
			_refuse(400, "the headers have a byte that is no visible letter of ASCII")
			return
	_understand(head.get_string_from_ascii().split("\r\n"))
	if _known.size() >= _MAX_KNOWN:
		_known.clear()
	if _waiting != null:
		_known[head] = _waiting


## Where the empty line after the headers begins, or -1.
func _find_end() -> int:
	var at: int = _buffer.find(_CR, _scanned)
	while at >= 0 and at + 3 < _buffer.size():
		if _buffer[at + 1] == _LF and _buffer[at + 2] == _CR and _buffer[at + 3] == _LF:
			return at
		at = _buffer.find(_CR, at + 1)
	_scanned = maxi(_buffer.size() - 3, 0) if at < 0 else at
	return -1


func _understand(lines: PackedStringArray) -> void:
	for line in lines:
		if line.contains("\r") or line.contains("\n"):
			_refuse(400, "a line of the headers must end with CR and LF")
			return
	var words: PackedStringArray = lines[0].split(" ")
	if lines[0].length() > MAX_FIRST_LINE:
		_refuse(414, "the first line is longer than %d bytes" % MAX_FIRST_LINE)
		return
	if words.size() != 3 or _method.search(words[0]) == null:
		_refuse(400, "the first line must be like: GET /health HTTP/1.1")
		return
	if words[2] != "HTTP/1.1" and words[2] != "HTTP/1.0":
		_refuse(505, "only HTTP/1.1 and HTTP/1.0 are spoken here")
		return
	if _target.search(words[1]) == null:
		_refuse(400, "the path must begin with / and have no blanks")
		return
	if lines.size() - 1 > MAX_HEADERS:
		_refuse(431, "there are more than %d headers" % MAX_HEADERS)
		return
	var request := DojoHttpRequest.new()
	request.method = words[0]
	request.path = words[1].get_slice("?", 0)
	for line in lines.slice(1):
		var found: RegExMatch = _header.search(line)
		if found == null:
			_refuse(400, "a header must be like: Name: value")
			return
		var name: String = found.get_string(1).to_lower()
		if request.headers.has(name):
			if name in ["host", "content-length", "transfer-encoding", "authorization"]:
				_refuse(400, "there are two headers %s" % name)
				return
			request.headers[name] += ", " + found.get_string(2)
		else:
			request.headers[name] = found.get_string(2)
	_agree(request, words[2] == "HTTP/1.1")


## Looks at what the headers say about the message itself.
func _agree(request: DojoHttpRequest, is_newer: bool) -> void:
	var headers: Dictionary[String, String] = request.headers
	if is_newer and not headers.has("host"):
		_refuse(400, "HTTP/1.1 needs a Host header")
		return
	if headers.has("transfer-encoding"):
		_refuse(411, "send the body whole, with Content-Length")
		return
	var length: String = headers.get("content-length", "0")
	if _length.search(length) == null:
		_refuse(400, "Content-Length must be a whole number")
		return
	request.body_size = length.to_int()
	if request.body_size > _max_body:
		_refuse(413, "a body has at most %d bytes" % _max_body)
		return
	var connection: String = headers.get("connection", "").to_lower()
	request.keeps_alive = (
		not connection.contains("close") if is_newer else connection.contains("keep-alive")
	)
	_waiting = request


func _refuse(status: int, sentence: String) -> void:
	error_status = status
	error = sentence
	_buffer = PackedByteArray()
	_waiting = null
