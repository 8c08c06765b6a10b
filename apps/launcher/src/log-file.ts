import { createWriteStream, mkdirSync, renameSync, statSync, type WriteStream } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from './processes';

const MAX_BYTES = 20_000_000;

/** An append-only log file, rotated at start when it is too large. */
export class LogFile {
  private readonly stream: WriteStream;

  /** @param print called once when the log cannot be written; nothing else fails */
  constructor(
    readonly path: string,
    print: (line: string) => void,
  ) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (sizeOf(path) > MAX_BYTES) renameSync(path, `${path}.1`);
    this.stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
    this.stream.once('error', (error) => print(`${path} cannot be written: ${error.message}`));
    this.stream.on('error', () => undefined);
  }

  write(chunk: string | Buffer): void {
    if (!this.stream.destroyed && !this.stream.writableEnded) this.stream.write(chunk);
  }

  /** Resolves when everything is written, or writing has failed. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.stream.closed) resolve();
      else this.stream.once('close', resolve).end();
    });
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 0;
    throw error;
  }
}
