# CONTROL: an honest speed-up of four times; it has to be kept, and not held.
# control: keep
solver_with 'range(2, i // 4 + 2)'
