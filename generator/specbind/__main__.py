"""`python -m specbind`, for programs that know which Python they mean."""

from specbind.cli import main

main(prog_name="specbind")
