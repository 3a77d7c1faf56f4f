class_name DojoHttpRequest
extends RefCounted
## One request, as it was read.

var method: String
## Without the query.
var path: String
## By name in small letters.
var headers: Dictionary[String, String] = {}
var body := PackedByteArray()
var body_size: int = 0
## Whether the client wants to say more on the same line.
var keeps_alive: bool = true


## The same request without its body.
func duplicate() -> DojoHttpRequest:
	var other := new()
	other.method = method
	other.path = path
	other.headers = headers
	other.body_size = body_size
	other.keeps_alive = keeps_alive
	return other
