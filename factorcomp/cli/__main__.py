"""`python -m factorcomp.cli`."""

import sys

from factorcomp.cli import main

if __name__ == "__main__":
    sys.exit(main())
