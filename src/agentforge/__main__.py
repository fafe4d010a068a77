"""`python -m agentforge`: the installed command, for where its directory is not on the path."""

import sys

from agentforge.surfaces.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
