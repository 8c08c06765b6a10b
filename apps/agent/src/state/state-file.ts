import { renameSync, rmSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { readIfPresent, replaceFile } from './durable-file';
import { parseState, serializeState, type ClockReading, type PersistedState } from './persisted-state';

/** The agent's state on disk. Only its user may read the file: it lists the addresses that may reach the host. */
export class StateFile {
  constructor(
    readonly path: string,
    private readonly readClocks: () => ClockReading,
    private readonly warn: (message: string) => void,
  ) {}

  /** The persisted state; a new installation without a usable file. A damaged one is kept aside. Never throws. */
  read(): PersistedState {
    try {
      const text = readIfPresent(this.path);
      if (text !== null) return parseState(text, this.readClocks());
    } catch (error) {
      this.warn(`${this.path} cannot be used, its rules are not restored: ${messageOf(error)}`);
      this.keepAside();
    }
    return { instance: randomUUID(), state: null };
  }

  /** @throws Error of the disk */
  write(state: PersistedState): Promise<void> {
    return replaceFile(this.path, serializeState(state, this.readClocks()));
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }

  private keepAside(): void {
    const aside = `${this.path}.unusable`;
    try {
      renameSync(this.path, aside);
      this.warn(`It is kept as ${aside}`);
    } catch (error) {
      this.warn(`It cannot be kept aside: ${messageOf(error)}`);
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
