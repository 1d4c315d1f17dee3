"""Write migrations/schema.sql anew: a server of its own, every revision, one dump. Run by `make schema-dump`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pgbraid import schema, server

TARGET = Path(__file__).parents[1] / "migrations" / "schema.sql"


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="pgbraid-dump-") as directory:
        place = Path(directory) / "place"
        try:
            dsn = server.up(place).dsn
            schema.upgrade(dsn)
            TARGET.write_text(schema.dump(dsn), encoding="utf-8")
        finally:
            server.down(place)
    print(f"wrote {TARGET}")


if __name__ == "__main__":
    main()
