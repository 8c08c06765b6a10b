import { visible, visibleLines } from '#client';
import type { FailureReport } from './failure-report';

export type Format = 'text' | 'json';

/** Shorter waits than this many ticks go unmentioned. */
const MENTIONED_TICKS = 6;
const TICK_MS = 500;

/**
 * What a command prints: its result on standard output, everything else on standard error. Texts come from other people:
 * none may act on the terminal, hide something, or begin a line that is not its own. The escapes are those of JSON, where
 * they stand for the same text.
 */
export class Output {
  /** how many answers of people are awaited */
  private people = 0;

  constructor(
    readonly format: Format,
    private readonly out: NodeJS.WritableStream & { readonly columns?: number } = process.stdout,
    private readonly err: NodeJS.WritableStream = process.stderr,
  ) {}

  /** The result: one object with `--output json`. */
  result(object: object, text: string): void {
    const shown = this.format === 'json' ? JSON.stringify(object, null, 2) : text;
    if (shown !== '') this.out.write(`${visibleLines(shown)}\n`);
  }

  /** A result that is a list: one object that holds it by this name, or a table. */
  list<T>(name: string, items: readonly T[], columns: Columns<T>, empty: string): void {
    this.result({ [name]: items }, this.table(items, columns) || empty);
  }

  /** A result that is one thing: one line for each field. */
  fields(object: object): void {
    const entries = Object.entries(object).map(([field, value]) => ({
      field,
      value: typeof value === 'string' ? value : JSON.stringify(value),
    }));
    this.result(object, this.table(entries, { field: ({ field }) => field, value: ({ value }) => value }));
  }

  /**
   * Left-aligned columns; nothing for no items. On a terminal that is too narrow each item is a paragraph: its first column
   * alone, then a line for each of the others.
   */
  table<T>(items: readonly T[], columns: Columns<T>): string {
    if (items.length === 0) return '';
    const headings = Object.keys(columns);
    const rows = items.map((item) => Object.values(columns).map((column) => visible(column(item) ?? '')));
    const all = [headings.map((heading) => heading.toUpperCase()), ...rows];
    const widths = widthsOf(all);
    const width = widths.reduce((sum, one) => sum + one + 2, -2);
    if (width > (this.out.columns ?? Infinity)) return paragraphs(headings, rows);
    return all.map((row) => lineOf(row, widths)).join('\n');
  }

  /** What happens meanwhile. */
  note(message: string): void {
    this.err.write(`drawbridge: ${visible(message)}\n`);
  }

  /** Says what is waited for when that takes long. @param what continues "waiting …" */
  async mentionWait<T>(what: string, work: Promise<T>): Promise<T> {
    let ticks = 0;
    const timer = setInterval(() => {
      ticks = this.people > 0 ? 0 : ticks + 1;
      if (ticks === MENTIONED_TICKS) this.note(`waiting ${what}`);
    }, TICK_MS);
    try {
      return await work;
    } finally {
      clearInterval(timer);
    }
  }

  /** Waits for a person: whatever else is waited for, its time begins afterwards. */
  async forPerson<T>(work: Promise<T>): Promise<T> {
    this.people += 1;
    try {
      return await work;
    } finally {
      this.people -= 1;
    }
  }

  /** @param isResult false: standard output belongs to another program */
  failure(report: FailureReport, isResult: boolean): void {
    const { exitCode, message, fix, fields, requestId } = report;
    this.note(message);
    for (const [field, problem] of Object.entries(fields)) {
      if (!message.includes(problem)) this.err.write(`  ${visible(`${field} ${problem}`)}\n`);
    }
    if (fix !== null) this.err.write(`  Fix: ${visible(fix)}\n`);
    if (exitCode >= 6 && requestId !== null) this.err.write(`  Request: ${visible(requestId)}\n`);
    if (this.format === 'json' && isResult) this.result({ error: report }, '');
  }
}

/** The cell of each column, by its heading. */
export type Columns<T> = Readonly<Record<string, (item: T) => string | null | undefined>>;

const widthsOf = (rows: readonly (readonly string[])[]): number[] =>
  (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));

const lineOf = (row: readonly string[], widths: readonly number[]): string =>
  row
    .map((cell, column) => cell.padEnd(widths[column]!))
    .join('  ')
    .trimEnd();

function paragraphs(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const width = Math.max(...headings.map(({ length }) => length));
  const line = (cell: string, index: number): string => `  ${headings[index + 1]!.padEnd(width)}  ${cell}`;
  return rows
    .map(([first = '', ...others]) => [first, ...others.map(line)].map((text) => text.trimEnd()).join('\n'))
    .join('\n\n');
}
