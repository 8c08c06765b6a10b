import { Writable } from 'node:stream';
import { LogSink } from './log-sink';

type Done = (error?: Error) => void;

/** A stream that can be stalled and resumed. */
class SlowReader extends Writable {
  readonly lines: string[] = [];
  private readonly waiting: Done[] = [];
  stalled = false;

  override _write(chunk: Buffer, _encoding: string, done: Done): void {
    this.lines.push(chunk.toString());
    if (this.stalled) this.waiting.push(done);
    else done();
  }

  resumeReading(): void {
    this.stalled = false;
    for (const done of this.waiting.splice(0)) done();
  }
}

const LINE = `${'x'.repeat(1023)}\n`;

describe('LogSink', () => {
  it('buffers at most 4 MiB for a stalled reader and reports the number of dropped lines', async () => {
    const reader = new SlowReader();
    const sink = new LogSink(reader);
    reader.stalled = true;
    for (let count = 0; count < 6000; count += 1) sink.write(LINE);
    expect(reader.writableLength).toBeLessThan(4.1 * 1024 * 1024);
    const drained = new Promise((resolve) => reader.once('drain', resolve));
    reader.resumeReading();
    await drained;
    sink.write('again\n');
    await new Promise((resolve) => reader.end(resolve));
    const kept = reader.lines.filter((line) => line === LINE).length;
    expect(reader.lines.at(-1)).toBe('again\n');
    expect(JSON.parse(reader.lines.at(-2)!)).toMatchObject({ level: 40, lines: 6000 - kept });
  });
});
