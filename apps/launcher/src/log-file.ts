import { createWriteStream, mkdirSync, renameSync, statSync, type WriteStream } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from './processes';

const MAX_BYTES = 20_000_000;

/** A log that is added to, and set aside when it has grown large by the time of a start. */
export class LogFile {
  private readonly stream: WriteStream;

  /** @param say told once when the log cannot be written, which stops nothing */
  constructor(
    readonly path: string,
    say: (line: string) => void,
  ) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (sizeOf(path) > MAX_BYTES) renameSync(path, `${path}.1`);
    this.stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
    this.stream.once('error', (error) => say(`${path} cannot be written: ${error.message}`));
    this.stream.on('error', () => undefined);
  }

  write(chunk: string | Buffer): void {
    if (!this.stream.destroyed && !this.stream.writableEnded) this.stream.write(chunk);
  }

  /** Resolves when all is written, or cannot be. */
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
