extends EngineTest
## The reader of HTTP requests: what it takes, what it refuses and with which status.

const GOOD := (
	"POST /rl/action?x=1 HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\n"
	+ "X-A: 1\r\nx-a: 2\r\n\r\nbody"
)


func test_a_request_is_read_however_it_is_cut() -> void:
	var bytes: PackedByteArray = (GOOD + GOOD).to_ascii_buffer()
	for cut in range(1, bytes.size(), 7):
		var parser := DojoHttpParser.new()
		var found: Array[DojoHttpRequest] = []
		for piece: PackedByteArray in [bytes.slice(0, cut), bytes.slice(cut)]:
			parser.feed(piece)
			var request: DojoHttpRequest = parser.next()
			while request != null:
				found.append(request)
				request = parser.next()
		check_equal(found.size(), 2, "requests when cut at %d (%s)" % [cut, parser.error])
		check(not parser.is_amid(), "nothing is left")
		for request in found:
			check_equal(request.method, "POST", "method")
			check_equal(request.path, "/rl/action", "path")
			check_equal(request.headers["x-a"], "1, 2", "a header that comes twice")
			check_equal(request.body.get_string_from_ascii(), "body", "body")


func test_a_repeated_head_has_a_body_of_its_own() -> void:
	var parser := DojoHttpParser.new()
	for number in 40:
		# More heads than are remembered, some of them again.
		var head: String = (
			"POST /%d HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n" % (number % 20)
		)
		var bodies: PackedStringArray = []
		for body: String in ["ab", "cd"]:
			parser.feed((head + body).to_ascii_buffer())
		for _turn in 2:
			var request: DojoHttpRequest = parser.next()
			check_equal(request.path, "/%d" % (number % 20), "path")
			check_equal(request.headers["host"], "a", "header")
			bodies.append(request.body.get_string_from_ascii())
		check_equal(bodies, PackedStringArray(["ab", "cd"]), "bodies")
		check(parser.next() == null and not parser.is_amid(), "nothing is left")


func test_byte_by_byte() -> void:
	var parser := DojoHttpParser.new()
	var bytes: PackedByteArray = GOOD.to_ascii_buffer()
	for at in bytes.size():
		check(parser.next() == null, "not whole before byte %d" % at)
		parser.feed(bytes.slice(at, at + 1))
	check(parser.next() != null, "whole at its end (%s)" % parser.error)


func test_lines_are_kept_or_not() -> void:
	var wishes: Dictionary[String, bool] = {
		"GET / HTTP/1.1\r\nHost: a\r\n\r\n": true,
		"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n": false,
		"GET / HTTP/1.0\r\n\r\n": false,
		"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n": true,
	}
	for text in wishes:
		var parser := DojoHttpParser.new()
		parser.feed(text.to_ascii_buffer())
		check_equal(parser.next().keeps_alive, wishes[text], text.left(40))


func test_what_is_refused() -> void:
	var many: String = ""
	for number in DojoHttpParser.MAX_HEADERS + 1:
		many += "a%d: b\r\n" % number
	var refused: Dictionary[String, int] = {
		"hello\r\n\r\n": 400,
		"get / HTTP/1.1\r\nHost: a\r\n\r\n": 400,
		"GET  / HTTP/1.1\r\nHost: a\r\n\r\n": 400,
		"GET health HTTP/1.1\r\nHost: a\r\n\r\n": 400,
		"GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n": 400,
		"GET / HTTP/2.0\r\nHost: a\r\n\r\n": 505,
		"GET / HTTP/1.1\r\n\r\n": 400,
		"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n": 400,
		"GET / HTTP/1.1\r\nHost : a\r\n\r\n": 400,
		"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n": 400,
		"GET / HTTP/1.1\nHost: a\n\r\n\r\n": 400,
		"GET / HTTP/1.1\r\nHost: a\r\nX: \u007f\r\n\r\n": 400,
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n": 400,
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1e3\r\n\r\n": 400,
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n": 400,
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999\r\n\r\n": 413,
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n": 411,
		"GET /%s HTTP/1.1\r\n\r\n" % "a".repeat(3000): 414,
		"a".repeat(3000): 414,
		"GET / HTTP/1.1\r\nHost: a\r\nX: %s\r\n\r\n" % "a".repeat(9000): 431,
		"GET / HTTP/1.1\r\nHost: a\r\nX: %s" % "a".repeat(9000): 431,
		"GET / HTTP/1.1\r\n%s\r\n" % many: 431,
	}
	for text in refused:
		var parser := DojoHttpParser.new(1000)
		parser.feed(text.to_utf8_buffer())
		check(parser.next() == null, "no request in %s" % text.left(60).c_escape())
		check_equal(parser.error_status, refused[text], text.left(60).c_escape())
		check(not parser.error.is_empty(), "a sentence for %s" % text.left(60).c_escape())
		parser.feed(GOOD.to_ascii_buffer())
		check(parser.next() == null, "nothing is read after an error")


func test_noise() -> void:
	var chance := RandomNumberGenerator.new()
	chance.seed = 11
	var good: PackedByteArray = GOOD.to_ascii_buffer()
	for _time in 3000:
		var bytes: PackedByteArray = good.duplicate()
		for _change in chance.randi_range(1, 6):
			bytes[chance.randi_range(0, bytes.size() - 1)] = chance.randi_range(0, 255)
		var parser := DojoHttpParser.new(1000)
		parser.feed(bytes.slice(0, chance.randi_range(1, bytes.size())))
		parser.next()
		check(parser.error.is_empty() == (parser.error_status == 0), "an error has a sentence")
