const MAX_LINES = 10;
const MAX_LINE_LENGTH = 500;

/** Keeps the first and the last lines of a stream. */
export class LastLines {
  readonly first: string[] = [];
  private recent: string[] = [];
  private rest = '';

  append(chunk: Buffer): void {
    const lines = (this.rest + chunk.toString('utf8')).split('\n');
    this.rest = (lines.pop() ?? '').slice(0, MAX_LINE_LENGTH);
    for (const line of lines.filter((text) => text.trim() !== '')) this.keep(line.slice(0, MAX_LINE_LENGTH));
  }

  /** The last lines, including an unfinished one. */
  get last(): readonly string[] {
    return this.rest.trim() === '' ? this.recent : [...this.recent, this.rest];
  }

  private keep(line: string): void {
    if (this.first.length < MAX_LINES / 2) this.first.push(line);
    this.recent = [...this.recent, line].slice(-MAX_LINES);
  }
}
