"""An interrupt interrupts, also where the tests were started by a shell that ignores it."""

import signal

# A job in the background of a script inherits that; commands that the tests interrupt would, too.
signal.signal(signal.SIGINT, signal.default_int_handler)
