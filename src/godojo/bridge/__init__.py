"""The wire between Python and a game: bytes in, messages out; sockets only in `listener`."""
