"""Build the standalone program, which needs no Python: a folder and its archive, for the current system.

Run by `make bundle`, and on Windows and macOS by one line:

    uv run --isolated --locked --no-dev --extra app --with pyinstaller==6.22.3 --with pillow
        python tools/bundle/build.py
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path

from trimming import strip_symbols, trim_unicode_data

HERE = Path(__file__).resolve().parent
OUT = HERE.parents[1] / "dist" / "bundle"
INSTALLERS = {
    "linux": ("install.sh", "elicit.desktop", "elicit-mime.xml", "elicit.png"),
    "win32": ("install.ps1", "elicit.png"),
    "darwin": (),
}


def draw_icon(path: Path) -> None:
    """Draw the icon: two columns of squares, one with a surplus, as in a question."""
    from PIL import Image, ImageDraw

    image = Image.new("RGBA", (256, 256), (0, 0, 0, 0))
    pen = ImageDraw.Draw(image)
    pen.rounded_rectangle((8, 8, 248, 248), 48, fill="#1E2A38")
    for column, (rows, hue) in enumerate(((4, "#84B7F9"), (2, "#E8A36A"))):
        for row in range(4):
            left, top = 56 + 80 * column, 196 - 44 * row
            pen.rectangle((left, top - 34, left + 62, top), fill=hue if row < rows else "#323945")
    image.save(path)


def main() -> int:
    """Build the program and print its size."""
    draw_icon(HERE / "elicit.png")
    where = ["--distpath", str(OUT), "--workpath", str(OUT / "work")]
    done = subprocess.run([sys.executable, "-m", "PyInstaller", "--noconfirm", *where, str(HERE / "elicit.spec")])
    if done.returncode:
        return done.returncode
    if sys.platform == "linux":
        strip_symbols(OUT / "elicit")
        trim_unicode_data(OUT / "elicit")
    folder = OUT / ("elicit.app" if sys.platform == "darwin" else "elicit")
    for installer in INSTALLERS.get(sys.platform, ()):
        shutil.copy(HERE / installer, folder)
    name = OUT / f"elicit-{platform.system().lower()}-{platform.machine().lower()}"
    # A zip would follow the links in a macOS program and break it.
    archive = Path(shutil.make_archive(str(name), "zip" if sys.platform == "win32" else "xztar", OUT, folder.name))
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    print(f"{folder}: {size / 1e6:.0f} MB; {archive.name}: {archive.stat().st_size / 1e6:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
