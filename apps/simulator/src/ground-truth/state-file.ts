import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Issuer } from '../issuer/issuer';
import type { CloudProvider } from '../provider';
import type { Ledger } from './ledger';

const WRITE_INTERVAL_MS = 100;

/**
 * Persists the open rules, and the sign-ins at the identity provider, across restarts. The file is written at most every
 * 100 ms and on close: a killed process may lose the last 100 ms.
 */
export class StateFile {
  private written = '';
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly path: string,
    private readonly providers: readonly CloudProvider[],
    private readonly ledger: Ledger,
    private readonly issuer: Issuer,
  ) {}

  /** Reads the file, if it exists, and then writes changes to it. @returns why it could not be read, or null */
  open(): string | null {
    const problem = this.read();
    this.written = this.version;
    this.timer = setInterval(() => this.writeChanges(), WRITE_INTERVAL_MS);
    this.timer.unref();
    return problem;
  }

  close(): void {
    if (this.timer) clearInterval(this.timer);
    this.writeChanges();
  }

  private get version(): string {
    return `${this.ledger.changedAt} ${this.issuer.changes}`;
  }

  private get parts(): (readonly [string, CloudProvider | Issuer])[] {
    return [
      ...this.providers.map((provider) => [provider.provider, provider] as const),
      ['ISSUER', this.issuer],
    ];
  }

  private read(): string | null {
    try {
      const saved = JSON.parse(readFileSync(this.path, 'utf8')) as Record<string, unknown>;
      for (const [name, part] of this.parts) part.restore(saved[name]);
      return null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      return `${this.path} cannot be read (${(error as Error).message}): the clouds start empty`;
    }
  }

  private writeChanges(): void {
    if (this.written === this.version) return;
    this.written = this.version;
    const saved = this.parts.map(([name, part]) => [name, part.save()]);
    const draft = `${this.path}.${process.pid}`;
    try {
      writeFileSync(draft, JSON.stringify(Object.fromEntries(saved)), { mode: 0o600 });
      renameSync(draft, this.path);
    } finally {
      rmSync(draft, { force: true });
    }
  }
}
