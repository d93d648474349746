"""What the bundled program runs: the window, a command, or the child that decodes Parquet files."""

import sys

if len(sys.argv) == 2 and sys.argv[1] == "--decode-parquet":
    from elicit_app.study.parquet import main

    main()
else:
    from elicit_command import main

    main()
