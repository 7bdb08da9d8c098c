"""`python -m factorcomp`."""

import sys

from factorcomp.cli import main

sys.exit(main())
