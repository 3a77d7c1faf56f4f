class_name DojoProbeLink
extends RefCounted
## The line on which a [code]DojoProbe[/code] reports to a hunt: one way, one report per decision.
##
## A report is two little-endian lengths, a JSON text with what has changed, and 32-bit floats.

## How long the hunt may take to answer and to read, in microseconds.
const PATIENCE_US := 10_000_000

var _tcp := StreamPeerTCP.new()
var _is_open: bool = false


## Calls the hunt that launched this game; false if nobody answers.
func call_hunt(port: int, token: String) -> bool:
	if _tcp.connect_to_host("127.0.0.1", port) != OK:
		return false
	var deadline_us: int = Time.get_ticks_usec() + PATIENCE_US
	while _tcp.get_status() == StreamPeerTCP.STATUS_CONNECTING:
		if Time.get_ticks_usec() > deadline_us:
			return false
		OS.delay_usec(200)
		_tcp.poll()
	_is_open = _tcp.get_status() == StreamPeerTCP.STATUS_CONNECTED
	if _is_open:
		_tcp.set_no_delay(true)
		send({"token": token}, PackedFloat32Array())
	return _is_open


## Sends a report; after a failure, nothing is sent any more.
func send(changes: Dictionary, numbers: PackedFloat32Array) -> void:
	if not _is_open:
		return
	var text: PackedByteArray = (
		PackedByteArray() if changes.is_empty() else JSON.stringify(changes).to_utf8_buffer()
	)
	var report := PackedByteArray()
	report.resize(8)
	report.encode_u32(0, text.size())
	report.encode_u32(4, numbers.size() * 4)
	report.append_array(text)
	report.append_array(numbers.to_byte_array())
	_is_open = _tcp.put_data(report) == OK
