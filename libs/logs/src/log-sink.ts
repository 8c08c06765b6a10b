import type { Writable } from 'node:stream';

/** So much may wait for whoever reads the log. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const WARN_LEVEL = 40;

/**
 * Where log lines go: a stream that stalls when nobody reads it, or breaks when the disk is full. The service goes on;
 * a line that finds no room is dropped, and how many were is told by the next one that does.
 */
export class LogSink {
  private dropped = 0;

  constructor(private readonly stream: Writable) {
    // each write is told of its own failure; without a listener the stream's ends the process
    stream.on('error', () => undefined);
  }

  /** @param line with its line feed */
  write(line: string): void {
    if (this.stream.writableLength > MAX_WAITING_BYTES) {
      this.dropped += 1;
      return;
    }
    if (this.dropped > 0) this.tellOfDropped(this.dropped);
    this.stream.write(line, (error) => {
      if (error) this.dropped += 1;
    });
  }

  private tellOfDropped(lines: number): void {
    this.dropped -= lines;
    const notice = {
      level: WARN_LEVEL,
      time: Date.now(),
      lines,
      msg: 'Log lines were dropped: nobody took them',
    };
    this.stream.write(`${JSON.stringify(notice)}\n`, (error) => {
      if (error) this.dropped += lines;
    });
  }
}
