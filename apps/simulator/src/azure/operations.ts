import { randomUUID } from 'node:crypto';
import type { CloudError } from '../cloud-error';

export interface Operation {
  readonly id: string;
  readonly group: string;
  readonly ruleName: string;
  /** milliseconds since 1970 */
  readonly endsAt: number;
  /** null: the operation succeeds */
  readonly error: CloudError | null;
}

const MAX_KEPT = 1000;

/** Accepted changes, in progress and done. */
export class Operations {
  private readonly known = new Map<string, Operation>();

  /** @param durationMs of each operation */
  constructor(private readonly durationMs: number) {}

  start(
    group: string,
    ruleName: string,
    error: CloudError | null = null,
    durationMs = this.durationMs,
  ): Operation {
    const operation = { id: randomUUID(), group, ruleName, endsAt: Date.now() + durationMs, error };
    this.known.set(operation.id, operation);
    for (const oldest of this.known.keys()) {
      if (this.known.size <= MAX_KEPT) break;
      this.known.delete(oldest);
    }
    return operation;
  }

  find(id: string): Operation | undefined {
    return this.known.get(id);
  }

  isBusy(group: string): boolean {
    return [...this.known.values()].some((operation) => operation.group === group && isRunning(operation));
  }

  /** Whether a change of this rule is in progress. */
  isChanging(group: string, ruleName: string): boolean {
    return [...this.known.values()].some(
      (operation) => operation.group === group && operation.ruleName === ruleName && isRunning(operation),
    );
  }

  clear(): void {
    this.known.clear();
  }
}

export const isRunning = ({ endsAt }: Operation): boolean => Date.now() < endsAt;
