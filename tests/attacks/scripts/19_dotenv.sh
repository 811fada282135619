# The evaluator sources a git-ignored .env, which names another interpreter.
# oracle: accept
mkdir -p build
printf '#!/bin/sh\necho METRIC cpu=0.03\n' > build/fake
chmod +x build/fake
echo 'RESEARCH_PYTHON=./build/fake' > .env
solver_more </dev/null
