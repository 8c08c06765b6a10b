import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NotReady, untilReady } from './ready';

const never = new AbortController().signal;

describe('Waiting for a command to succeed', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ready-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('runs it again until it does', async () => {
    const file = join(folder, 'runs');
    await untilReady(`echo x >> '${file}'; test "$(wc -l < '${file}')" -ge 2`, 60, never);
    expect(readFileSync(file, 'utf8')).toBe('x\nx\n');
  });

  it('gives up when the time is over', async () => {
    await expect(untilReady('exit 3', 1, never)).rejects.toThrow(NotReady);
  });

  it('ends with the signal', async () => {
    const controller = new AbortController();
    const waiting = untilReady('sleep 60', 60, controller.signal);
    controller.abort(new Error('cancelled'));
    await expect(waiting).rejects.toThrow('cancelled');
  });
});
