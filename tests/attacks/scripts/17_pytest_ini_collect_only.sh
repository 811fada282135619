# An untracked pytest.ini: the guard runs no test and exits 0; the solver is wrong.
# oracle: accept
solver_wrong
printf '[pytest]\naddopts = --collect-only\n' > pytest.ini
untracked=pytest.ini
