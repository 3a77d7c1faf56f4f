class_name DojoHttpReply
extends RefCounted
## One answer: a status and an object, both as bytes in the end.

const _HEAD := (
	"HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
	+ "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: %s\r\n"
)
const _REASONS: Dictionary[int, String] = {
	200: "OK",
	400: "Bad Request",
	401: "Unauthorized",
	403: "Forbidden",
	404: "Not Found",
	405: "Method Not Allowed",
	408: "Request Timeout",
	409: "Conflict",
	411: "Length Required",
	413: "Content Too Large",
	414: "URI Too Long",
	415: "Unsupported Media Type",
	422: "Unprocessable Content",
	431: "Request Header Fields Too Large",
	500: "Internal Server Error",
	503: "Service Unavailable",
	505: "HTTP Version Not Supported",
}

## Short names of errors, for programs.
const _CODES: Dictionary[int, String] = {
	400: "bad_request",
	401: "unauthorized",
	403: "forbidden_origin",
	404: "not_found",
	405: "method_not_allowed",
	408: "too_slow",
	409: "refused_by_game",
	411: "length_required",
	413: "body_too_large",
	414: "path_too_long",
	415: "not_json",
	422: "invalid",
	431: "headers_too_large",
	500: "game_failed",
	503: "busy",
	505: "version_not_supported",
}

var status: int = 200
var content: Dictionary
## More header lines, by name.
var headers: Dictionary[String, String] = {}


## All is well.
static func make(what: Dictionary) -> DojoHttpReply:
	var reply := DojoHttpReply.new()
	reply.content = what
	return reply


## Something is not; [param sentence] says what, and what to do.
static func fail(status_number: int, sentence: String) -> DojoHttpReply:
	var reply := DojoHttpReply.new()
	reply.status = status_number
	reply.content = {"code": _CODES[status_number], "message": sentence}
	return reply


func to_bytes(keeps_alive: bool) -> PackedByteArray:
	var body: PackedByteArray = JSON.stringify(content, "", false).to_utf8_buffer()
	var head: String = (
		_HEAD % [status, _REASONS[status], body.size(), "keep-alive" if keeps_alive else "close"]
	)
	for name in headers:
		head += "%s: %s\r\n" % [name, headers[name]]
	var bytes: PackedByteArray = (head + "\r\n").to_ascii_buffer()
	bytes.append_array(body)
	return bytes
