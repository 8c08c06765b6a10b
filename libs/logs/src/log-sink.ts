import type { Writable } from 'node:stream';

/** Buffered for a slow reader. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;
const WARN_LEVEL = 40;

/**
 * Destination of log lines: a stream that may stall (slow reader) or fail (full disk) without stopping the service. Lines
 * beyond the buffer are dropped; the next written line is preceded by their number. Own code: `maxLength` of sonic-boom
 * would replace the limit, not the count and the notice.
 */
export class LogSink {
  private dropped = 0;

  constructor(private readonly stream: Writable) {
    // failures are handled per write; without a listener the stream's error event ends the process
    stream.on('error', () => undefined);
  }

  /** @param line with its line feed */
  write(line: string): void {
    if (this.stream.writableLength > MAX_BUFFERED_BYTES) {
      this.dropped += 1;
      return;
    }
    if (this.dropped > 0) this.reportDropped(this.dropped);
    this.stream.write(line, (error) => {
      if (error) this.dropped += 1;
    });
  }

  private reportDropped(lines: number): void {
    this.dropped -= lines;
    const notice = {
      level: WARN_LEVEL,
      time: Date.now(),
      lines,
      msg: 'Log lines were dropped: the reader is too slow or the disk is full',
    };
    this.stream.write(`${JSON.stringify(notice)}\n`, (error) => {
      if (error) this.dropped += lines;
    });
  }
}
