/* cc -O2 peer-libxlsxwriter.c -lxlsxwriter; SPOOL.csv TARGET. Constant memory: rows are written as they come. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xlsxwriter.h>

static const char *fields[] = {"id", "order_no", "name", "date", "amount", "discount", "rate", "status", "phone", "note"};

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    FILE *spool = fopen(argv[1], "r");
    if (!spool) return 1;
    lxw_workbook_options options = {.constant_memory = LXW_TRUE, .tmpdir = NULL};
    lxw_workbook *book = workbook_new_opt(argv[2], &options);
    lxw_worksheet *sheet = workbook_add_worksheet(book, "Orders");
    for (int n = 0; n < 10; n++) worksheet_write_string(sheet, 0, n, fields[n], NULL);
    char *line = NULL;
    size_t size = 0;
    for (lxw_row_t row = 1; getline(&line, &size, spool) > 0; row++) {
        char *at = line;
        for (int column = 0; column < 10; column++) {
            if (*at != '"') {
                worksheet_write_number(sheet, row, column, strtod(at, &at), NULL);
                at++;
                continue;
            }
            char *text = ++at, *out = at;
            for (; *at != '"' || at[1] == '"'; at++) {
                if (*at == '"') at++;
                *out++ = *at;
            }
            *out = 0;
            worksheet_write_string(sheet, row, column, text, NULL);
            at += 2;
        }
    }
    free(line);
    fclose(spool);
    return workbook_close(book);
}
