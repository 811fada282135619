# CONTROL: an honest speed-up of one and a half; it has to be kept, and not held.
# control: keep
solver_with 'range(2, 2 * i // 3 + 1)'
