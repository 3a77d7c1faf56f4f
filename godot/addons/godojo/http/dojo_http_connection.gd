class_name DojoHttpConnection
extends RefCounted
## One client's line: moves bytes between a socket and a parser, and notices who is slow.

## A request has to be whole so long after its first byte, and an answer taken.
const REQUEST_US := 5_000_000
## How long a line may be open without a word.
const IDLE_US := 60_000_000
## How long a client that was refused may go on sending: its line is closed sooner if it stops.
const FAREWELL_US := 1_000_000
const _READ := 65536

## Whether an answer is owed.
var is_waiting: bool = false
## When it last said something.
var heard_us: int
## Whether it is done for.
var is_closed: bool = false

var _tcp: StreamPeerTCP
var _parser: DojoHttpParser
var _unsent := PackedByteArray()
var _begun_us: int = 0
var _closes_after: bool = false
# What is still to come from a client that was refused is read and forgotten until then, since
# some systems lose an answer when a line is closed over unread bytes.
var _forgets_until_us: int = 0


func _init(tcp: StreamPeerTCP, max_body: int) -> void:
	_tcp = tcp
	_tcp.set_no_delay(true)
	_parser = DojoHttpParser.new(max_body)
	heard_us = Time.get_ticks_usec()


## Moves what can be moved without waiting. Returns the next whole request, or null.
func poll() -> DojoHttpRequest:
	_send()
	if is_closed or is_waiting or _closes_after:
		_look_at_clock()
		return null
	_receive()
	var request: DojoHttpRequest = _parser.next()
	if request != null:
		is_waiting = true
		_begun_us = 0
	elif _parser.error_status != 0:
		_forgets_until_us = Time.get_ticks_usec() + FAREWELL_US
		answer(DojoHttpReply.fail(_parser.error_status, _parser.error), false)
	_look_at_clock()
	return request


## Sends [param reply]; the line is closed afterwards unless it is to be kept.
func answer(reply: DojoHttpReply, keeps_alive: bool) -> void:
	is_waiting = false
	_unsent.append_array(reply.to_bytes(keeps_alive))
	_begun_us = Time.get_ticks_usec() if _parser.is_amid() else 0
	if not keeps_alive:
		_closes_after = true
	_send()


## Lets go of it.
func close() -> void:
	is_closed = true
	_tcp.disconnect_from_host()


func _receive() -> void:
	var available: int = _tcp.get_available_bytes()
	if available <= 0:
		_tcp.poll()
		if _tcp.get_status() != StreamPeerTCP.STATUS_CONNECTED:
			close()
		return
	var received: Array = _tcp.get_partial_data(mini(available, _READ))
	if received[0] != OK:
		close()
		return
	heard_us = Time.get_ticks_usec()
	if _begun_us == 0:
		_begun_us = heard_us
	_parser.feed(received[1] as PackedByteArray)


func _send() -> void:
	if not _unsent.is_empty() and not is_closed:
		var sent: Array = _tcp.put_partial_data(_unsent)
		if sent[0] != OK:
			close()
		elif int(sent[1]) > 0:
			_unsent = _unsent.slice(int(sent[1]))
			heard_us = Time.get_ticks_usec()
	if _unsent.is_empty() and _closes_after and not is_closed and _has_heard_all():
		close()


func _has_heard_all() -> bool:
	if Time.get_ticks_usec() > _forgets_until_us:
		return true
	_tcp.poll()
	if _tcp.get_status() != StreamPeerTCP.STATUS_CONNECTED:
		return true
	var available: int = _tcp.get_available_bytes()
	if available > 0:
		_tcp.get_partial_data(mini(available, _READ))
	return false


func _look_at_clock() -> void:
	var now_us: int = Time.get_ticks_usec()
	if is_closed or is_waiting or (_closes_after and _unsent.is_empty()):
		return
	if not _unsent.is_empty():
		if now_us - heard_us > REQUEST_US:
			close()
	elif _begun_us > 0 and _parser.is_amid() and now_us - _begun_us > REQUEST_US:
		answer(DojoHttpReply.fail(408, "a request must be whole within 5 s"), false)
	elif now_us - heard_us > IDLE_US:
		close()
