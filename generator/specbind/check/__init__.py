"""Whether all that was made from the spec agrees with it: header, library, exported symbols, and each language's own view."""
