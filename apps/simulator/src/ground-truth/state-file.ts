import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Ledger } from './ledger';

/** A provider's open rules, as it wants to be given them again. */
export interface Remembering {
  readonly provider: string;
  remember(): unknown;
  /** @throws Error when it is nothing that `remember` gave */
  recall(remembered: unknown): void;
}

const WRITE_INTERVAL_MS = 100;

/**
 * Keeps what is open over a restart, as a real cloud does. Written at most every 100 ms and on close; a process that
 * is killed may lose the last 100 ms.
 */
export class StateFile {
  private writtenAt: number | null = null;
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly path: string,
    private readonly providers: readonly Remembering[],
    private readonly ledger: Ledger,
  ) {}

  /** Reads the file, if there is one, and keeps it up to date from then on. @returns why it could not be read */
  open(): string | null {
    const problem = this.read();
    this.writtenAt = this.ledger.changedAt;
    this.timer = setInterval(() => this.writeChanges(), WRITE_INTERVAL_MS);
    this.timer.unref();
    return problem;
  }

  close(): void {
    if (this.timer) clearInterval(this.timer);
    this.writeChanges();
  }

  private read(): string | null {
    try {
      const remembered = JSON.parse(readFileSync(this.path, 'utf8')) as Record<string, unknown>;
      for (const provider of this.providers) provider.recall(remembered[provider.provider]);
      return null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      return `${this.path} cannot be read (${(error as Error).message}): the clouds start empty`;
    }
  }

  private writeChanges(): void {
    if (this.writtenAt === this.ledger.changedAt) return;
    this.writtenAt = this.ledger.changedAt;
    const remembered = this.providers.map((provider) => [provider.provider, provider.remember()]);
    const draft = `${this.path}.${process.pid}`;
    try {
      writeFileSync(draft, JSON.stringify(Object.fromEntries(remembered)), { mode: 0o600 });
      renameSync(draft, this.path);
    } finally {
      rmSync(draft, { force: true });
    }
  }
}
