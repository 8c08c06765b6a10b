import type { Clock } from './clock';
import type { Ledger, LedgerRule } from './ledger';

/** How long earlier versions are kept for stale reads, microseconds. */
const KEPT_US = 600_000_000;

interface Version<T> {
  readonly key: string;
  readonly value: T;
  /** microseconds since 1970 */
  readonly since: number;
  readonly until: number;
}

/** Objects by key, and their versions of the last ten minutes. The ledger records what each change of them opens and closes. */
export class History<T> {
  private readonly current = new Map<string, Version<T>>();
  private past: Version<T>[] = [];

  /** @param opens the open rules of an object; left out: its owner tells the ledger */
  constructor(
    private readonly world: { readonly clock: Clock; readonly ledger: Ledger },
    private readonly opens: (value: T, key: string) => LedgerRule[] = () => [],
  ) {}

  /** @param asOf microseconds since 1970: the version at that time */
  get(key: string, asOf?: number): T | undefined {
    if (asOf === undefined) return this.current.get(key)?.value;
    return this.versionsAt(asOf).find((version) => version.key === key)?.value;
  }

  /** In order of creation. @param asOf as for `get` */
  values(asOf?: number): T[] {
    const versions = asOf === undefined ? [...this.current.values()] : this.versionsAt(asOf);
    return versions.map(({ value }) => value);
  }

  set(key: string, value: T): T {
    this.world.ledger.replace(this.openedBy(key), this.opens(value, key));
    return this.start(key, value, this.end(key));
  }

  /** Adds an object that was there from the beginning, and opens nothing. */
  init(key: string, value: T): void {
    this.start(key, value, 0);
  }

  delete(key: string): void {
    this.world.ledger.replace(this.openedBy(key), []);
    this.end(key);
    this.current.delete(key);
  }

  clear(): void {
    this.current.clear();
    this.past = [];
  }

  private openedBy(key: string): LedgerRule[] {
    const known = this.current.get(key);
    return known ? this.opens(known.value, key) : [];
  }

  private versionsAt(asOf: number): Version<T>[] {
    return [...this.past, ...this.current.values()].filter(
      ({ since, until }) => since <= asOf && until > asOf,
    );
  }

  private start(key: string, value: T, since: number): T {
    this.current.set(key, { key, value, since, until: Infinity });
    return value;
  }

  /** Ends the current version of an object, if it has one. @returns when */
  private end(key: string): number {
    const now = this.world.clock.now();
    const ended = this.current.get(key);
    if (ended) this.past.push({ ...ended, until: now });
    while ((this.past[0]?.until ?? now) < now - KEPT_US) this.past.shift();
    return now;
  }
}
