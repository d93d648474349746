"""Entry point of the bundled program: the window, a command, or the child that decodes Parquet files."""

import os
import sys
from pathlib import Path

for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
    # On Windows a program without a console has no standard streams.
    if getattr(sys, name) is None:
        setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
# The bundle has no Python to run workers, so joblib works in this process.
os.environ["JOBLIB_MULTIPROCESSING"] = "0"

if len(sys.argv) == 2 and sys.argv[1] == "--decode-parquet":
    from elicit_app.study.parquet import main

    main()
else:
    from elicit_command import main

    main()
