import { existsSync, rmSync } from 'node:fs';
import type { Traffic } from '#rules';
import { messageOf } from '../log';
import { readIfPresent, replaceFile } from '../state/durable-file';
import { fields, readTrafficList } from '../state/host-state';

const FORMAT = 1;

/** What a host guards, and what it does not guard before a confirmation. */
export interface GuardDecisions {
  readonly guarded: readonly Traffic[];
  /** named, and not guarded yet: connections would be cut */
  readonly waiting: readonly Traffic[];
  /** not confirmed in time: not guarded until it is */
  readonly leftAlone: readonly Traffic[];
}

export const NOTHING_DECIDED: GuardDecisions = { guarded: [], waiting: [], leftAlone: [] };

/**
 * The guarded traffic on disk, apart from the rules and with the copy before. It is written only when the guard changes, so
 * that what damages the file of the rules, which is written with every session, costs rules and never the guard.
 */
export class GuardFile {
  constructor(
    readonly path: string,
    private readonly warn: (message: string) => void,
    private readonly previous = `${path}.previous`,
  ) {}

  /** @returns the last guard that is readable; null: none is, or none was ever written */
  read(): GuardDecisions | null {
    return this.readOne(this.path) ?? this.readOne(this.previous);
  }

  /** The file itself, for an agent that knows its guard; null: it is missing or damaged. The copy before tells nothing new. */
  readCurrent(): GuardDecisions | null {
    // the caller writes it again
    return this.readOne(this.path, () => undefined);
  }

  /** @throws Error of the disk */
  async write(decisions: GuardDecisions): Promise<void> {
    const current = this.readCurrent();
    // a copy that guards nothing, from before the first verification, would leave the host open
    if (current)
      await replaceFile(this.previous, serialize(current.guarded.length > 0 ? current : decisions));
    await replaceFile(this.path, serialize(decisions));
  }

  /** Whether there are files, readable or not. */
  get isPresent(): boolean {
    return [this.path, this.previous].some((path) => existsSync(path));
  }

  remove(): void {
    for (const path of [this.path, this.previous]) rmSync(path, { force: true });
  }

  private readOne(path: string, warn = this.warn): GuardDecisions | null {
    try {
      const text = readIfPresent(path);
      return text === null ? null : parse(text);
    } catch (error) {
      warn(`${path} cannot be used: ${messageOf(error)}`);
      return null;
    }
  }
}

const serialize = ({ guarded, waiting, leftAlone }: GuardDecisions): string =>
  `${JSON.stringify({ format: FORMAT, guarded, waiting, leftAlone })}\n`;

/** @throws Error when the text is no guard, in part or whole */
function parse(text: string): GuardDecisions {
  const { format, guarded, waiting, leftAlone } = fields(JSON.parse(text));
  if (format !== FORMAT) throw new Error('it is no guard file of this agent');
  return {
    guarded: readTrafficList(guarded),
    waiting: readTrafficList(waiting),
    leftAlone: readTrafficList(leftAlone),
  };
}
