# Code under test connects out (the lab: a listener on 127.0.0.1).
# oracle: net
solver_more <<X
import socket
try:
    socket.create_connection(("127.0.0.1", $PORT), timeout=0.5).close()
except OSError:
    pass
X
