import { canHoldRule } from '#rules';
import type { CloudRule, ModelTarget } from './model-cloud';
import { endOf, type ResourceIpRow, type RuleRow, type Tables } from './tables';

/** Maximum lateness without faults, ms. */
export const HEALTHY_BOUND_MS = 5000;
/** Maximum lateness after the end of a fault, ms. */
export const FAULT_BOUND_MS = 60_000;

export interface Violation {
  /** its name as in docs/guarantees.md */
  readonly oracle: string;
  readonly atMs: number;
  readonly message: string;
}

/** What the oracles remember of one rule key on one target; times in ms, -1 for never. */
export interface RuleMemory {
  /** when a read last showed it */
  presentAt: number;
  /** when a read last did not show our rule */
  absentAt: number;
  /** when the engine last removed it */
  removedAt: number;
  /** since when it is present without a holder */
  unheldSince: number | null;
  removedByOthers: boolean;
  /** when an in-doubt removal took effect although the rule had a holder */
  cutAt: number | null;
  robotRemovals: number;
  addedAgain: number;
}

/** What all oracles share: violations, memory of what was observed, and questions about rows. */
export class OracleState {
  readonly violations: Violation[] = [];
  /** when a comparison of all targets was last requested */
  comparedAt = -1;
  /** when no resource pointed at the target last, although an unmanaged or planted rule was present on it */
  readonly unnamedAt = new Map<string, number>();
  /** when each call to the clouds was made */
  readonly calls: number[] = [];
  changesSent = 0;
  /** of the changes sent, those that changed nothing */
  changesRedundant = 0;
  private readonly memories = new Map<string, RuleMemory>();

  constructor(
    readonly tables: Tables,
    readonly log: (message: string) => void,
  ) {}

  now(): number {
    return this.tables.now();
  }

  violated(oracle: string, message: string): void {
    this.log(`VIOLATED ${oracle}: ${message}`);
    this.violations.push({ oracle, atMs: this.now(), message });
  }

  memory(identifier: string, key: string): RuleMemory {
    const name = `${identifier} ${key}`;
    const known = this.memories.get(name);
    if (known) return known;
    const fresh: RuleMemory = {
      presentAt: -1,
      absentAt: -1,
      removedAt: -1,
      unheldSince: null,
      removedByOthers: false,
      cutAt: null,
      robotRemovals: 0,
      addedAgain: 0,
    };
    this.memories.set(name, fresh);
    return fresh;
  }

  /** A read of the target showed these of our keys: every other known key is absent. */
  rememberRead(identifier: string, own: ReadonlySet<string>): void {
    const prefix = `${identifier} `;
    for (const [name, memory] of this.memories) {
      if (!name.startsWith(prefix) || own.has(name.slice(prefix.length))) continue;
      memory.absentAt = this.now();
    }
  }

  /** The holders that desire the rule and whose session has not ended. */
  liveHolders(rule: RuleRow): ResourceIpRow[] {
    const now = this.now();
    return this.tables.liveHoldersOf(rule).filter((ip) => {
      return ip.sessionId === null || endOf(this.tables.sessions.get(ip.sessionId)!) > now;
    });
  }

  /** The live holders whose credential may write the rule. */
  keepers(rule: RuleRow): ResourceIpRow[] {
    const { credentials, resources } = this.tables;
    const writerOrganizationId = credentials.get(rule.credentialId ?? '')?.organizationId ?? null;
    return this.liveHolders(rule).filter(({ organizationId, resourceId }) =>
      canHoldRule(
        { organizationId, writeVerified: resources.get(resourceId)!.writeVerified },
        { isUnmanaged: rule.isUnmanaged, writerOrganizationId },
      ),
    );
  }

  ruleAt(identifier: string, key: string): RuleRow | undefined {
    return [...this.tables.rules.values()].find(
      (rule) => rule.key === key && this.identifierOf(rule) === identifier,
    );
  }

  identifierOf(rule: RuleRow): string {
    return this.tables.targets.get(rule.targetId)!.identifier;
  }

  /** Whether a resource points at the target. Without one the product has no credential for it. */
  isNamed(identifier: string): boolean {
    for (const { targetId } of this.tables.resources.values()) {
      if (this.tables.targets.get(targetId)!.identifier === identifier) return true;
    }
    return false;
  }

  /**
   * Whether the product may not have found the rule yet: it was planted or changed, and since it has no holder no comparison has
   * ended, or no resource points at its target.
   */
  isUndetected({ identifier }: ModelTarget, rule: CloudRule): boolean {
    if (!rule.planted && !rule.changed) return false;
    const { unheldSince } = this.memory(identifier, rule.key);
    const detectableSince = Math.max(unheldSince ?? this.now(), this.unnamedAt.get(identifier) ?? -1);
    const isBeingCompared = this.now() - this.comparedAt < HEALTHY_BOUND_MS;
    return (
      isBeingCompared || detectableSince > this.comparedAt - HEALTHY_BOUND_MS || !this.isNamed(identifier)
    );
  }
}

/** Whether the engine added the rule and its address was not changed since. */
export const isAddedByEngine = ({ planted, changed }: CloudRule): boolean => !planted && !changed;

/** The last part of a model id, for messages. */
export const shortId = (id: string): string => Number.parseInt(id.slice(-12), 16).toString();
