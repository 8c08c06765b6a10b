import { rmSync } from 'node:fs';
import { readIfPresent, replaceFile } from './durable-file';
import { fields, readTraffic, type Traffic } from './host-state';

const FORMAT = 1;

/**
 * The guarded traffic on disk, apart from the rules and with the copy before. It is written only when the guard changes, so
 * that what damages the file of the rules, which is written with every session, costs rules and never the guard.
 */
export class GuardFile {
  private readonly previous: string;

  constructor(
    readonly path: string,
    private readonly warn: (message: string) => void,
  ) {
    this.previous = `${path}.previous`;
  }

  /** @returns the last guard that is readable; null: none is, or none was ever written */
  read(): readonly Traffic[] | null {
    return this.readOne(this.path) ?? this.readOne(this.previous);
  }

  /** The file itself, for an agent that knows its guard; null: it is missing or damaged. The copy before tells nothing new. */
  readCurrent(): readonly Traffic[] | null {
    try {
      const text = readIfPresent(this.path);
      return text === null ? null : parse(text);
    } catch {
      // the caller writes it again
      return null;
    }
  }

  /** @throws Error of the disk */
  async write(guarded: readonly Traffic[]): Promise<void> {
    const current = this.readCurrent();
    if (current) await replaceFile(this.previous, serialize(current));
    await replaceFile(this.path, serialize(guarded));
  }

  remove(): void {
    for (const path of [this.path, this.previous]) rmSync(path, { force: true });
  }

  private readOne(path: string): readonly Traffic[] | null {
    try {
      const text = readIfPresent(path);
      return text === null ? null : parse(text);
    } catch (error) {
      this.warn(`${path} cannot be used: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    }
  }
}

const serialize = (guarded: readonly Traffic[]): string => `${JSON.stringify({ format: FORMAT, guarded })}\n`;

/** @throws Error when the text is no guard, in part or whole */
function parse(text: string): readonly Traffic[] {
  const { format, guarded } = fields(JSON.parse(text));
  if (format !== FORMAT || !Array.isArray(guarded)) throw new Error('it is no guard file of this agent');
  return guarded.map((entry: unknown) => {
    const traffic = readTraffic(fields(entry));
    if (!traffic) throw new Error('it guards traffic that this agent does not know');
    return traffic;
  });
}
