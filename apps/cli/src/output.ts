import { visible, visibleLines } from '#client';
import type { FailureReport } from './failure-report';

export type Format = 'text' | 'json';

/**
 * What a command prints: its result on standard output, everything else on standard error. Texts come from other people:
 * none may act on the terminal, hide something, or begin a line that is not its own. The escapes are those of JSON, where
 * they stand for the same text.
 */
export class Output {
  constructor(
    readonly format: Format,
    private readonly out: NodeJS.WritableStream = process.stdout,
    private readonly err: NodeJS.WritableStream = process.stderr,
  ) {}

  /** The result: one object with `--output json`. */
  result(object: object, text: string): void {
    const shown = this.format === 'json' ? JSON.stringify(object, null, 2) : text;
    if (shown !== '') this.out.write(`${visibleLines(shown)}\n`);
  }

  /** What happens meanwhile. */
  note(message: string): void {
    this.err.write(`drawbridge: ${visible(message)}\n`);
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

/** Left-aligned columns; nothing for no rows. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const all = [headings.map((heading) => heading.toUpperCase()), ...rows.map((row) => row.map(visible))];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
