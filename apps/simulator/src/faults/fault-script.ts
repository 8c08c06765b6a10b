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

/** What a call does to the cloud; `check` is a dry run, `identity` hands out credentials. */
export type CallEffect = 'read' | 'add' | 'remove' | 'change' | 'check' | 'identity';

/** What a fault looks at to tell whether a call is its own. */
export interface FaultScope {
  readonly provider: ProviderName;
  readonly operation: string;
  readonly effect: CallEffect;
  readonly targets: readonly string[];
  /** the id of the key the call is signed with */
  readonly caller?: string;
  /** the addresses a write names: a single one bare, a range as canonical CIDR */
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
  /** calls it hits; undefined: any number */
  readonly count?: number | undefined;
  /** how long it lasts; undefined: until it is removed */
  readonly seconds?: number | undefined;
  /** slow: how long the call waits; stale-read: how old the answer is; throttle: what Retry-After asks for */
  readonly delayMs?: number | undefined;
}

export interface ActiveFault extends FaultOrder {
  readonly id: number;
  /** calls hit so far */
  hits: number;
  /** milliseconds since 1970; null: no end */
  readonly endsAt: number | null;
}

/** Kinds that make sense for some calls only; a fault leaves other calls alone and is not used up by them. */
const EFFECTS_OF: Partial<Record<FaultKind, readonly CallEffect[]>> = {
  'not-found': ['read', 'add', 'remove', 'change', 'check'],
  'stale-read': ['read'],
  partial: ['add', 'remove', 'change'],
  quota: ['add', 'change'],
  conflict: ['add', 'remove', 'change'],
  invalid: ['add', 'remove', 'change'],
  'fail-later': ['add', 'remove', 'change'],
};

/** Whether a fault of this kind can hit a call with this effect. */
export const canHit = (kind: FaultKind, effect: CallEffect): boolean =>
  EFFECTS_OF[kind]?.includes(effect) ?? true;

/** The faults under way. Of several that fit a call, the oldest hits it. */
export class FaultScript {
  private faults: ActiveFault[] = [];
  private nextId = 1;

  start(order: FaultOrder): ActiveFault {
    const endsAt = order.seconds === undefined ? null : Date.now() + order.seconds * 1000;
    const fault = { ...order, id: this.nextId++, hits: 0, endsAt };
    this.faults.push(fault);
    return { ...fault };
  }

  /** The fault that hits this call, counted as used; undefined when the call goes through. */
  take(call: FaultScope): ActiveFault | undefined {
    this.forgetSpent();
    const fault = this.faults.find((candidate) => fits(candidate, call));
    if (fault) fault.hits += 1;
    return fault;
  }

  active(): ActiveFault[] {
    this.forgetSpent();
    return this.faults.map((fault) => ({ ...fault }));
  }

  clear(): void {
    this.faults = [];
  }

  private forgetSpent(): void {
    const now = Date.now();
    this.faults = this.faults.filter(
      (fault) => (fault.endsAt === null || fault.endsAt > now) && fault.hits < (fault.count ?? Infinity),
    );
  }
}

const fits = (fault: ActiveFault, call: FaultScope): boolean =>
  fault.provider === call.provider &&
  (fault.operation === undefined || fault.operation === call.operation) &&
  (fault.target === undefined || call.targets.includes(fault.target)) &&
  (fault.caller === undefined || fault.caller === call.caller) &&
  (fault.address === undefined || (call.addresses ?? []).includes(fault.address)) &&
  canHit(fault.kind, call.effect);
