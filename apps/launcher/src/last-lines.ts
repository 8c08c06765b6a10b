const MOST_LINES = 10;
const LONGEST_LINE = 500;

/** Keeps the first and the last lines of a stream. */
export class LastLines {
  readonly first: string[] = [];
  private recent: string[] = [];
  private rest = '';

  hear(chunk: Buffer): void {
    const lines = (this.rest + chunk.toString('utf8')).split('\n');
    this.rest = (lines.pop() ?? '').slice(0, LONGEST_LINE);
    for (const line of lines.filter((text) => text.trim() !== '')) this.keep(line.slice(0, LONGEST_LINE));
  }

  /** The latest lines, the unfinished one included. */
  get last(): readonly string[] {
    return this.rest.trim() === '' ? this.recent : [...this.recent, this.rest];
  }

  private keep(line: string): void {
    if (this.first.length < MOST_LINES / 2) this.first.push(line);
    this.recent = [...this.recent, line].slice(-MOST_LINES);
  }
}
