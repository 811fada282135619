# CONTROL: the same work in other words; it may not be kept.
# control: discard
solver_more <<'X'
# nothing new
X
