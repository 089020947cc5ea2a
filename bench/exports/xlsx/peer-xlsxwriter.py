"""SPOOL.csv TARGET: Python's XlsxWriter in constant memory."""
import csv
import sys

import xlsxwriter

FIELDS = ["id", "order_no", "name", "date", "amount", "discount", "rate", "status", "phone", "note"]
NUMBERS = {0, 4, 5, 6}

book = xlsxwriter.Workbook(sys.argv[2], {"constant_memory": True})
sheet = book.add_worksheet("Orders")
for column, title in enumerate(FIELDS):
    sheet.write_string(0, column, title)
with open(sys.argv[1], newline="", encoding="utf-8") as spool:
    for number, row in enumerate(csv.reader(spool), 1):
        for column, value in enumerate(row):
            if column in NUMBERS:
                sheet.write_number(number, column, float(value))
            else:
                sheet.write_string(number, column, value)
book.close()
