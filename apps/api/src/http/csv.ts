/**
 * Spreadsheets evaluate a cell that begins so as a formula, and names are chosen by users. Where a semicolon or a tab
 * separates columns, a cell begins within the field, also behind quotes.
 */
const FORMULA = /(^|[;\t\r\n])(?=[" ]*[=+\-@＝＋－＠])|^(?=[\t\r])/g;

/** A line of a CSV file (RFC 4180): ended by CRLF, quotes where needed, and no cell is a formula. Null is empty. */
export const csvLine = (cells: readonly (string | null)[]): string =>
  `${cells.map((cell) => field(cell ?? '')).join(',')}\r\n`;

function field(text: string): string {
  const safe = text.replaceAll(FORMULA, "$1'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
