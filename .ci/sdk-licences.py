"""Looks at the licence of everything that users of the SDKs install along with them. Called by `.ci/sdks licences`,
which gives the modules of the Go SDK with their folders on the standard input; those of the Python SDK are looked up in
the environment that this runs in.

A licence is known by words of its text (Go's modules do not name theirs) or by its name in the package's metadata.
"""

import re
import sys
from importlib import metadata
from pathlib import Path

TEXTS = {
    "Apache-2.0": "Apache License",
    "BSD-3-Clause": "Redistribution and use in source and binary forms",
    "MIT": "Permission is hereby granted, free of charge",
}
NAMES = {"Apache-2.0", "Apache License 2.0", "3-Clause BSD License", "BSD-3-Clause", "MIT", "MIT-0", "PSF-2.0"}


def of_go(folder: Path) -> str | None:
    texts = [path.read_text(errors="replace") for path in sorted(folder.glob("LICENSE*"))]
    return next((name for text in texts for name, words in TEXTS.items() if words in text), None)


def of_python(package: str) -> str | None:
    about = metadata.metadata(package)
    named = about.get("License-Expression") or about.get("License") or ""
    return named if all(part in NAMES for part in re.split(r" (?:AND|OR) ", named)) else None


def needed(package: str, found: set[str]) -> set[str]:
    """With all that it needs where no extra is asked for."""
    if package in found:
        return found
    try:
        requires = metadata.requires(package) or []
    except metadata.PackageNotFoundError:
        return found  # not on this system
    found.add(package)
    for line in requires:
        if "extra ==" not in line:
            needed(re.split(r"[^A-Za-z0-9._-]", line)[0], found)
    return found


licences = {}
for line in sys.stdin:
    if line.strip() and not line.startswith("campanile.dev/"):
        module, folder = line.split()
        licences[module] = of_go(Path(folder))
go_modules = len(licences)
for root in ("grpcio", "protobuf", "pynacl"):
    licences |= {package: of_python(package) for package in needed(root, set())}

unknown = sorted(name for name, licence in licences.items() if licence is None)
print(f"{go_modules} Go modules and {len(licences) - go_modules} Python packages: {sorted(set(filter(None, licences.values())))}")
if go_modules == 0 or len(licences) == go_modules or unknown:
    sys.exit(f"no licence that is allowed was found for: {unknown}")
