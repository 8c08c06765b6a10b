import { chmodSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { randomUUID } from 'node:crypto';
import { readKept, writeKept, type KeptState, type Moment } from './kept-state';

/** Where the agent keeps what it knows. Nobody but its user may read it: it says who may reach the host. */
export class StateFile {
  constructor(
    readonly path: string,
    private readonly moment: () => Moment,
    private readonly warn: (words: string) => void,
  ) {}

  /** What is kept; a new installation where nothing is, or nothing that can be read. @throws Error of the disk */
  read(): KeptState {
    const text = this.text();
    try {
      if (text !== null) return readKept(text, this.moment());
    } catch (error) {
      this.warn(`${this.path} cannot be used: ${error instanceof Error ? error.message : String(error)}`);
    }
    return { instance: randomUUID(), state: null };
  }

  /** On disk when this returns, and never half of it. @throws Error of the disk */
  async write(kept: KeptState): Promise<void> {
    const folder = dirname(this.path);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const draft = `${this.path}.new`;
    const file = await open(draft, 'w', 0o600);
    try {
      chmodSync(draft, 0o600);
      await file.writeFile(writeKept(kept, this.moment()));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, this.path);
    // the new name, too, is to survive a power cut
    const directory = await open(folder, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }

  private text(): string | null {
    try {
      return readFileSync(this.path, 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      throw error;
    }
  }
}
