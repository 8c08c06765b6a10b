import { chmodSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { randomUUID } from 'node:crypto';
import { parseState, serializeState, type ClockReading, type PersistedState } from './persisted-state';

/** The agent's state on disk. Only its user may read the file: it lists the addresses that may reach the host. */
export class StateFile {
  constructor(
    readonly path: string,
    private readonly readClocks: () => ClockReading,
    private readonly warn: (message: string) => void,
  ) {}

  /** The persisted state; a new installation without a readable file. @throws Error of the disk */
  read(): PersistedState {
    const text = this.text();
    try {
      if (text !== null) return parseState(text, this.readClocks());
    } catch (error) {
      this.warn(`${this.path} cannot be used: ${error instanceof Error ? error.message : String(error)}`);
    }
    return { instance: randomUUID(), state: null };
  }

  /** Replaces the file atomically and durably. @throws Error of the disk */
  async write(state: PersistedState): Promise<void> {
    const folder = dirname(this.path);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const draft = `${this.path}.new`;
    const file = await open(draft, 'w', 0o600);
    try {
      chmodSync(draft, 0o600);
      await file.writeFile(serializeState(state, this.readClocks()));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, this.path);
    // the rename has to survive a power cut too
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
