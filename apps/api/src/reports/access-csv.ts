import type { AccessItemDto } from './dto/access-item.dto';

const COLUMNS: readonly (readonly [name: string, value: (item: AccessItemDto) => string | Date | null])[] = [
  ['resourceId', ({ resource }) => resource.id],
  ['resourceName', ({ resource }) => resource.name],
  ['provider', ({ target }) => target.provider],
  ['target', ({ target }) => target.identifier],
  ['address', ({ address }) => address],
  ['protocol', ({ protocol }) => protocol],
  ['ports', ({ ports }) => ports],
  ['holderKind', ({ holderKind }) => holderKind],
  ['holderId', ({ holderId }) => holderId],
  ['userEmail', ({ userEmail }) => userEmail],
  ['cause', ({ cause }) => cause],
  ['certainFrom', ({ certainFrom }) => certainFrom],
  ['certainUntil', ({ certainUntil }) => certainUntil],
  ['possibleFrom', ({ possibleFrom }) => possibleFrom],
  ['possibleUntil', ({ possibleUntil }) => possibleUntil],
];

/** Formats a report as CSV (RFC 4180): a header, CRLF, quotes where needed. */
export function accessCsv(items: readonly AccessItemDto[]): string {
  const lines = [
    COLUMNS.map(([name]) => name),
    ...items.map((item) => COLUMNS.map(([, value]) => field(textOf(value(item))))),
  ];
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}

const textOf = (value: string | Date | null): string =>
  value instanceof Date ? value.toISOString() : (value ?? '');

/**
 * Spreadsheets evaluate a cell that begins so as a formula, and names are chosen by users. Where a semicolon or a tab
 * separates columns, a cell begins within the field, also behind quotes.
 */
const FORMULA = /(^|[;\t\r\n])(?=[" ]*[=+\-@＝＋－＠])|^(?=[\t\r])/g;

function field(text: string): string {
  const safe = text.replaceAll(FORMULA, "$1'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
