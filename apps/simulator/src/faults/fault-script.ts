import type { ProviderName } from '../provider-name';

export const FAULT_KINDS = [
  'throttle',
  'error',
  'timeout-after-success',
  'timeout-before',
  'refuse',
  'not-found',
  'slow',
  'stale-read',
  'partial',
  'quota',
  'conflict',
  'invalid',
  'unauthenticated',
  'html-page',
  'oversized',
  'truncated',
  'error-in-success',
  'fail-later',
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

/** The effect of a call; `check` is a dry run, `identity` issues credentials. */
export type CallEffect = 'read' | 'add' | 'remove' | 'change' | 'check' | 'identity';

/** The properties of a call that faults are matched against. */
export interface FaultScope {
  readonly provider: ProviderName;
  readonly operation: string;
  readonly effect: CallEffect;
  readonly targets: readonly string[];
  /** id of the key that signed the call */
  readonly caller?: string | undefined;
  /** addresses in a write: a single one bare, a range as canonical CIDR */
  readonly addresses?: readonly string[];
}

export interface FaultOrder {
  readonly provider: ProviderName;
  readonly target?: string | undefined;
  readonly operation?: string | undefined;
  readonly kind: FaultKind;
  /** only calls signed with this key id */
  readonly caller?: string | undefined;
  /** only writes that name this address */
  readonly address?: string | undefined;
  /** number of calls to hit; undefined: unlimited */
  readonly count?: number | undefined;
  /** how long it lasts; undefined: until it is removed */
  readonly seconds?: number | undefined;
  /** slow: delay of the call; stale-read: age of the answer; throttle: the Retry-After header */
  readonly delayMs?: number | undefined;
}

export interface ActiveFault extends FaultOrder {
  readonly id: number;
  /** calls hit so far */
  hits: number;
  /** milliseconds since 1970; null: no end */
  readonly endsAt: number | null;
}

/** Effects that a kind of fault can hit, when not all; other calls do not count against the fault. */
const EFFECTS_OF: Partial<Record<FaultKind, readonly CallEffect[]>> = {
  'not-found': ['read', 'add', 'remove', 'change', 'check'],
  'stale-read': ['read'],
  partial: ['add', 'remove', 'change'],
  quota: ['add', 'change'],
  conflict: ['add', 'remove', 'change'],
  invalid: ['add', 'remove', 'change'],
  'fail-later': ['add', 'remove', 'change'],
};

export const canHit = (kind: FaultKind, effect: CallEffect): boolean =>
  EFFECTS_OF[kind]?.includes(effect) ?? true;

/** The active faults. When several match a call, the oldest hits it. */
export class FaultScript {
  private faults: ActiveFault[] = [];
  private nextId = 1;

  start(order: FaultOrder): ActiveFault {
    const endsAt = order.seconds === undefined ? null : Date.now() + order.seconds * 1000;
    const fault = { ...order, id: this.nextId++, hits: 0, endsAt };
    this.faults.push(fault);
    return { ...fault };
  }

  /** The fault that hits this call, with its hit counted; undefined: none. */
  take(call: FaultScope): ActiveFault | undefined {
    this.dropExpired();
    const fault = this.faults.find((candidate) => matches(candidate, call));
    if (fault) fault.hits += 1;
    return fault;
  }

  active(): ActiveFault[] {
    this.dropExpired();
    return this.faults.map((fault) => ({ ...fault }));
  }

  clear(): void {
    this.faults = [];
  }

  private dropExpired(): void {
    const now = Date.now();
    this.faults = this.faults.filter(
      (fault) => (fault.endsAt === null || fault.endsAt > now) && fault.hits < (fault.count ?? Infinity),
    );
  }
}

const matches = (fault: ActiveFault, call: FaultScope): boolean =>
  fault.provider === call.provider &&
  (fault.operation === undefined || fault.operation === call.operation) &&
  (fault.target === undefined || call.targets.includes(fault.target)) &&
  (fault.caller === undefined || fault.caller === call.caller) &&
  (fault.address === undefined || (call.addresses ?? []).includes(fault.address)) &&
  canHit(fault.kind, call.effect);
