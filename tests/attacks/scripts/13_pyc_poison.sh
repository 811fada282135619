# Poisoned bytecode of an evaluator's helper, which Python believes without its source.
# oracle: accept
mkdir -p bench/__pycache__ build
sed 's/spent:/spent * 0.5:/' bench/workload.py > build/workload.py
"$python" - <<'X'
import importlib.util, py_compile
py_compile.compile("build/workload.py", cfile=importlib.util.cache_from_source("bench/workload.py"), dfile="bench/workload.py",
                   doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
X
rm build/workload.py
solver_more </dev/null
