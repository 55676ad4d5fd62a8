"""A real import: customers out of a CSV file into a database, with who was brought by another after that one, and the
errors of all rows as an Excel file. Nothing but Python's own library is wanted.

campanile serve --executors 127.0.0.1:4610
python examples/importing.py 127.0.0.1:4610

The job's parameters are `file` (a CSV file with the columns id, name, email and brought_by), `database` (an SQLite
file) and `reports` (a folder).
"""

import csv
import pathlib
import sqlite3
import sys
import zipfile
from contextlib import closing
from xml.sax.saxutils import escape

import campanile

TABLES = """
    CREATE TABLE IF NOT EXISTS customers (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, brought_by TEXT REFERENCES customers);
    CREATE TABLE IF NOT EXISTS import_errors (
        run TEXT NOT NULL, line INTEGER NOT NULL, error TEXT NOT NULL, PRIMARY KEY (run, line));
"""


class ImportCustomers(campanile.ShardingProcessor):
    info = campanile.Info("import-customers")

    def pre_process(self, task, items):
        """Reads the file, and puts customers into the level after whoever brought them."""
        with open(task.parameters["file"], newline="", encoding="utf-8-sig") as file:
            customers = [dict(row, line=line) for line, row in enumerate(csv.DictReader(file), start=2)]
        levels, errors = levels_of(customers)
        with closing(open_database(task)) as database, database:
            database.execute("DELETE FROM import_errors WHERE run = ?", [task.instance_id])
            note(database, task, errors)
        return ((level, customer) for level, row in enumerate(levels) for customer in row)

    def sharding_process(self, task, items):
        """A customer that is there already is left alone: whatever runs again does no harm."""
        imported = 0
        with closing(open_database(task)) as database:
            for item in items:
                error = check(item.value) or insert(database, item.value)
                if error:
                    with database:
                        note(database, task, [(item.value["line"], error)])
                task.item(item.index, error and f"line {item.value['line']}: {error}")
                imported += not error
        return {"imported": imported}

    def post_process(self, task, ends):
        imported = sum(end.result["imported"] for end in ends if end.code == 301)
        with closing(open_database(task)) as database:
            found = database.execute(
                "SELECT line, error FROM import_errors WHERE run = ? ORDER BY line", [task.instance_id]
            ).fetchall()
        report = pathlib.Path(task.parameters["reports"], f"errors-{task.instance_id}.xlsx")
        write_workbook(report, [("Line", "Error"), *found])
        return {"imported": imported, "refused": len(found), "errors": str(report)}


def levels_of(customers):
    """Customers by how many come before them, and (line, error) of those that can have no place."""
    by_id, levels, errors = {}, [], []
    for customer in customers:
        by_id.setdefault(customer["id"], customer)
    for customer in customers:
        error, level, at = None, 0, customer
        if by_id[customer["id"]] is not customer:
            error = f"line {by_id[customer['id']]['line']} has the same id"
        while not error and at["brought_by"]:
            by, level = at["brought_by"], level + 1
            at = by_id.get(by)
            if at is None:
                error = f"there is no customer {by}"
            elif level > len(customers):
                error = f"{customer['id']} was brought by whom it brought"
        if error:
            errors.append((customer["line"], error))
            continue
        levels.extend([] for _ in range(level + 1 - len(levels)))
        levels[level].append(customer)
    return levels, errors


def check(customer):
    if not customer["name"]:
        return "there is no name"
    who, at, domain = (customer["email"] or "").partition("@")
    return None if who and at and "." in domain else f"{customer['email']!r} is no e-mail address"


def open_database(task):
    database = sqlite3.connect(task.parameters["database"], timeout=30)
    database.execute("PRAGMA foreign_keys = ON")
    database.executescript(TABLES)
    return database


def insert(database, customer):
    """Why the database does not take it, if it does not."""
    values = [customer["id"], customer["name"], customer["email"], customer["brought_by"] or None]
    try:
        with database:
            database.execute("INSERT INTO customers VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING", values)
    except sqlite3.IntegrityError as refused:
        return str(refused)
    return None


def note(database, task, errors):
    rows = [(task.instance_id, line, error) for line, error in errors]
    database.executemany("INSERT INTO import_errors VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rows)


def write_workbook(path, rows):
    """An Excel file is a few pages of XML in a zip archive; one sheet of texts and numbers needs no library."""
    space = "http://schemas.openxmlformats.org"
    office, package = f"{space}/officeDocument/2006/relationships", f"{space}/package/2006"

    def cell(value):
        if isinstance(value, int):
            return f"<c><v>{value}</v></c>"
        return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(str(value))}</t></is></c>'

    lines = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    pages = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{space}/spreadsheetml/2006/main" xmlns:r="{office}">'
        '<sheets><sheet name="Errors" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{space}/spreadsheetml/2006/main">'
        f"<sheetData>{lines}</sheetData></worksheet>",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, page in pages.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{page}')


if __name__ == "__main__":
    processors = [ImportCustomers()]
    campanile.Executor("examples", name="import-python", nodes=sys.argv[1:], processors=processors).run()
