# core.hooksPath to a git-ignored directory of the copy.
# oracle: canary repo
payload
mkdir -p build/hooks
for hook in post-checkout post-commit pre-commit reference-transaction post-index-change; do cp build/payload build/hooks/$hook; done
gits | while read -r each; do git config -f "$each/config" core.hooksPath "$PWD/build/hooks"; done
solver_more </dev/null
