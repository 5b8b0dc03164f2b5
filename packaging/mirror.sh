#!/bin/sh
# Prints the address of the Debian mirror that this machine's apt uses.
set -eu
apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    sed -n 's,^[a-z]* \(.*/debian\)/*$,\1,p' | head -n 1 | grep . ||
    { echo "mirror: apt knows no mirror of Debian here" >&2; exit 1; }
