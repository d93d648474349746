#!/bin/sh
# Put elicit into this account: the program, its entry in the menu, its icon, and *.elicit files that open it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
data=${XDG_DATA_HOME:-$HOME/.local/share}
place=$data/elicit-program
if [ "$here" = "$place" ]; then
    echo "elicit is installed already, in this folder. To replace it, run install.sh of the newer folder." >&2
    exit 1
fi
rm -rf "$place"
mkdir -p "$place" "$data/applications" "$data/mime/packages" "$data/icons/hicolor/256x256/apps" "$HOME/.local/bin"
cp -a "$here/." "$place/"
ln -sf "$place/elicit" "$HOME/.local/bin/elicit"
sed "s|^Exec=elicit|Exec=\"$place/elicit\"|" "$here/elicit.desktop" > "$data/applications/elicit.desktop"
cp "$here/elicit.png" "$data/icons/hicolor/256x256/apps/elicit.png"
cp "$here/elicit-mime.xml" "$data/mime/packages/elicit.xml"
command -v update-mime-database > /dev/null && update-mime-database "$data/mime" || true
command -v update-desktop-database > /dev/null && update-desktop-database "$data/applications" || true
echo "elicit is in $place; *.elicit files open with it."
