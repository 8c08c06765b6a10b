/**
 * Spreadsheets evaluate a cell that begins so as a formula, and names are chosen by users. Where a semicolon or a tab
 * separates columns, a cell begins within the field, also behind quotes.
 */
const FORMULA = /(^|[;\t\r\n])(?=[" ]*[=+\-@＝＋－＠])|^(?=[\t\r])/g;

/** A line of a CSV file (RFC 4180): ended by CRLF, quotes where needed, and no cell is a formula. Null is empty. */
export const csvLine = (cells: readonly (string | null)[]): string =>
  `${cells.map((cell) => field(cell ?? '')).join(',')}\r\n`;

type Cell = string | number | boolean | Date | null;
export type Columns<Row> = readonly (readonly [name: string, value: (row: Row) => Cell])[];

/** Rows as CSV, with a header. Times are in ISO 8601. */
export const csvOf =
  <Row>(columns: Columns<Row>) =>
  (rows: readonly Row[]): string =>
    [columns.map(([name]) => name), ...rows.map((row) => columns.map(([, value]) => textOf(value(row))))]
      .map(csvLine)
      .join('');

const textOf = (cell: Cell): string | null =>
  cell instanceof Date ? cell.toISOString() : cell === null ? null : String(cell);

function field(text: string): string {
  const safe = text.replaceAll(FORMULA, "$1'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
