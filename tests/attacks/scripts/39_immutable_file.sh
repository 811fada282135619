# (root) An immutable changed file: reset and clean fail half-way.
# oracle: left
# root
mkdir -p build
echo left > build/left
solver_more </dev/null
commit
chattr +i src/solver.py build/left
