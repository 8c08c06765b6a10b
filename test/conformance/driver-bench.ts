import type { CloudTarget, DriverCredential, ProviderDriver } from '#drivers';
import type { RuleSpec } from '#rules';

/** The effect of a call on a target. */
export type Effect = 'read' | 'add' | 'remove';

export type Fault =
  | 'throttle'
  | 'error'
  | 'refuse'
  | 'not-found'
  | 'partial'
  | 'quota'
  | 'timeout-after-success'
  | 'timeout-before'
  | 'stale-read'
  | 'conflict'
  | 'html-page'
  | 'oversized'
  | 'truncated'
  | 'error-in-success'
  | 'fail-later'
  | 'unauthenticated';

/** One rule as the cloud reports it, without the driver. */
export interface CloudRule {
  /** a single address bare, a range as canonical CIDR */
  readonly address: string;
  readonly protocol: string;
  readonly fromPort: number | null;
  readonly toPort: number | null;
  /** carries a mark of Drawbridge */
  readonly ours: boolean;
}

/** A rule of another program: one port, one address. */
export interface UnmanagedRule {
  readonly address: string;
  readonly port: number;
  readonly description?: string;
  /** omitted: tcp; `all` has ports in some clouds only */
  readonly protocol?: 'tcp' | 'all';
  /** omitted: allow; this and the next two where the cloud has denials */
  readonly access?: 'deny';
  /** a smaller one comes first */
  readonly priority?: number;
  /** omitted: the whole target */
  readonly part?: string;
}

/** An edit of a rule by another program; omitted fields are unchanged. */
export interface RuleEdit {
  readonly address?: string;
  readonly fromPort?: number;
  readonly toPort?: number;
  /** empty: removes the description */
  readonly description?: string;
  readonly protocol?: 'udp';
  /** as the cloud's API names them, where it has more */
  readonly fields?: object;
}

/** Access with short-lived tokens, which the cloud issues and may refuse. */
interface TokenBench {
  /** as `DriverBench.target`, with a credential that is exchanged for a token */
  target(number: number): CloudTarget;
  /** Makes the cloud refuse every token issued so far. */
  revoke(): Promise<void>;
  /** The calls on the target that were refused because of their token. */
  refused(target: CloudTarget): Promise<readonly unknown[]>;
}

/** Access that the cloud gives by a role, whose permissions can be taken away until the reset. */
interface RoleBench {
  /** permissions that `verify` needs or checks */
  readonly verified: readonly string[];
  /** permissions to poll operations; empty where the cloud has none that are asynchronous */
  readonly polling: readonly string[];
  withdraw(permissions: readonly string[]): Promise<void>;
}

export interface BenchOptions {
  /** maximum number of rules of a target, per IP version */
  readonly capacity: number;
  /** duration of asynchronous operations, where the cloud has them; omitted: immediate */
  readonly operationMs?: number;
}

/** Differences between clouds that affect drivers. */
export interface CloudFacts {
  /** rules have a protocol and ports; false: a rule allows all traffic of an address */
  readonly ports: boolean;
  /** rules carry our mark; false: only `CloudTarget.claims` shows which rules are ours */
  readonly marks: boolean;
  /** how a batch is sent: additions in one call and removals in another, one call per rule, or the complete list */
  readonly batch: 'one-call' | 'call-each' | 'whole-list';
  /** each removal is a call, unlike additions */
  readonly removesEach?: true;
  /** no rule is added when an unmanaged rule already allows the traffic; false: ours is added next to it */
  readonly adoptsUnmanagedRules: boolean;
  /** IPv4 and IPv6 rules are limited separately; false: together */
  readonly capacityPerIpVersion: boolean;
  /** the limit is the length of the list as text, not the number of rules */
  readonly capacityByLength?: true;
  /** a target accepts addresses of one IP version, here IPv4; omitted: both */
  readonly singleIpVersion?: true;
  /** all deployments share one list: entries of another deployment take effect too */
  readonly sharedList?: true;
  /** an entry is identified by its address: it has no id of its own */
  readonly addressIsIdentity?: true;
  /** rules can deny, in an order of priorities, and apply to a part of the target such as this one */
  readonly denials?: { readonly part: string };
  /** the cloud proves that what is not found was removed: a removal of it is not in doubt */
  readonly provesAbsence?: true;
  /** the write permission cannot be checked without a write: `verify` does not detect that it is missing */
  readonly permissionKnownByWriteOnly?: true;
}

/** Whether each change with this effect is a call. */
export const isEach = ({ batch, removesEach }: CloudFacts, effect: Effect): boolean =>
  batch === 'call-each' || (effect === 'remove' && removesEach === true);

/** A driver with a simulated cloud, and access to that cloud without the driver. */
export interface DriverBench {
  readonly cloud: CloudFacts;
  readonly driver: ProviderDriver;
  /** an empty target and a credential that may change it; 5 different ones exist */
  target(number: number): CloudTarget;
  /** another spelling of a target's name; omitted: upper case */
  readonly respell?: (identifier: string) => string;
  /** a target that does not exist */
  missingTarget(): CloudTarget;
  /** the same target with a wrong secret */
  withWrongSecret(target: CloudTarget): CloudTarget;
  /** a credential that the cloud does not know */
  unknownCredential(): DriverCredential;
  /** a RuleSpec that the cloud refuses */
  readonly malformedSpec: RuleSpec;
  /** Puts a lock on a target, or takes it away; omitted: the cloud has no locks. */
  lock?(target: CloudTarget, level: 'CanNotDelete' | 'ReadOnly' | null): Promise<void>;
  addUnmanaged(target: CloudTarget, rule: UnmanagedRule): Promise<void>;
  rules(target: CloudTarget): Promise<CloudRule[]>;
  /** Makes the next `count` calls with this effect on the target fail with the fault. */
  injectFault(
    target: CloudTarget,
    effect: Effect,
    fault: Fault,
    options?: { count?: number; delayMs?: number },
  ): Promise<void>;
  /** Edits the rules of an address in place; where rules carry marks. */
  readonly edit?: (target: CloudTarget, address: string, edit: RuleEdit) => Promise<void>;
  /**
   * a change of each field of a rule that another program can change in place, its description apart, as for the address
   * 203.0.113.7; none: an entry is its address
   */
  readonly changes: readonly RuleEdit[];
  /** where credentials are exchanged for tokens */
  readonly tokens?: TokenBench;
  /** Makes the cloud trust every subject of the issuer, until the reset; where credentials are trusts. */
  readonly trustAnySubject?: () => Promise<void>;
  /** where access is given by a role */
  readonly role?: RoleBench;
  /** Makes the next `count` credential checks fail with the fault. */
  injectCheckFault(fault: Fault, options: { count: number }): Promise<void>;
  /** The effects of all calls on the target in order, including refused ones. */
  calls(target: CloudTarget): Promise<Effect[]>;
  /** Resets to empty targets, no faults and full call budgets. */
  reset(): Promise<void>;
  close(): Promise<void>;
}
