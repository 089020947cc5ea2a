"""Reads the workbooks that each line of standard input names (a JSON list) with openpyxl, and answers with a line of JSON."""
import datetime
import json
import sys
import traceback

import openpyxl

def value_of(cell):
    value = cell.value
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return {"date": value.isoformat()}
    return value


def color(value):
    return value.rgb[2:] if value is not None and isinstance(value.rgb, str) else None


def look(cell):
    found = {
        "format": cell.number_format,
        "bold": bool(cell.font.b),
        "italic": bool(cell.font.i),
        "underline": cell.font.u is not None,
        "size": cell.font.sz,
        "color": color(cell.font.color) if cell.font.color is not None and cell.font.color.type == "rgb" else None,
        "bgColor": color(cell.fill.fgColor) if cell.fill.patternType == "solid" else None,
        "align": cell.alignment.horizontal,
        "vAlign": cell.alignment.vertical,
        "wrap": bool(cell.alignment.wrap_text),
    }
    return found


def dump(path):
    book = openpyxl.load_workbook(path)
    sheets = []
    formulas = any(c.data_type == "f" for s in book.worksheets for c in s._cells.values())
    known = openpyxl.load_workbook(path, data_only=True) if formulas else None
    for sheet in book.worksheets:
        cells = {}
        for row in sheet._cells.values():
            if row.__class__.__name__ == "MergedCell":
                continue
            if row.value is None and not row.has_style:
                continue
            cells[row.coordinate] = {"type": row.data_type, "value": value_of(row), "look": look(row)}
            if row.data_type == "f":
                cells[row.coordinate]["cached"] = value_of(known[sheet.title][row.coordinate])
        sheets.append(
            {
                "name": sheet.title,
                "cells": cells,
                "merges": sorted(str(merge) for merge in sheet.merged_cells.ranges),
                "widths": {name: column.width for name, column in sheet.column_dimensions.items()},
                "heights": {str(n): row.height for n, row in sheet.row_dimensions.items() if row.height is not None},
                "freeze": sheet.freeze_panes,
                "filter": sheet.auto_filter.ref,
                "titles": [sheet.print_title_rows, sheet.print_title_cols],
                "page": [sheet.page_setup.orientation, sheet.page_setup.fitToWidth, sheet.oddHeader.left.text, sheet.oddFooter.center.text],
                "links": {cell.coordinate: [cell.hyperlink.target, cell.hyperlink.location] for row in sheet.iter_rows() for cell in row if cell.hyperlink},
                "rows": sheet.max_row,
            }
        )
    return sheets


for line in sys.stdin:
    try:
        answer = {"seen": [dump(path) for path in json.loads(line)]}
    except Exception:
        answer = {"error": traceback.format_exc()}
    print(json.dumps(answer), flush=True)
