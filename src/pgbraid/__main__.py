"""`python -m pgbraid` is the command `pgbraid`."""

from pgbraid.cli import main

main()
