import type { CloudTarget, DriverCredential, ProviderDriver } from '#drivers';
import type { RuleSpec } from '#rules';

/** What a call does to a target. */
export type Effect = 'read' | 'add' | 'remove';

export type Fault =
  | 'throttle'
  | 'error'
  | 'refuse'
  | 'not-found'
  | 'partial'
  | 'quota'
  | 'slow'
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

/** One opening as the cloud itself tells it, without the driver. */
export interface Opening {
  /** a single address bare, a range as canonical CIDR */
  readonly address: string;
  readonly protocol: string;
  readonly fromPort: number | null;
  readonly toPort: number | null;
  /** carries a mark of Drawbridge */
  readonly ours: boolean;
}

/** Another program's rule: one port, one address. */
export interface PlantedRule {
  readonly address: string;
  readonly port: number;
  readonly description?: string;
}

/** What another program makes of a rule that stands; left out: as it was. */
export interface RuleEdit {
  readonly address?: string;
  readonly fromPort?: number;
  readonly toPort?: number;
  /** an empty one takes it away */
  readonly description?: string;
}

/** A way in through short-lived tokens, which the cloud issues and may refuse. */
export interface TokenBench {
  /** as `DriverBench.target`, with a credential that is exchanged for a token */
  target(number: number): CloudTarget;
  /** Every token issued so far is refused from now on. */
  revoke(): Promise<void>;
  /** The calls on the object that were refused for their token. */
  refused(target: CloudTarget): Promise<readonly unknown[]>;
}

export interface BenchOptions {
  /** openings one object has room for, of each IP version */
  readonly room: number;
  /** how long the cloud takes to carry out a write that it has accepted, where it does that; left out: at once */
  readonly operationMs?: number;
}

/** In what clouds differ, and with it what a driver can do. */
export interface CloudFacts {
  /** its rules name a protocol and ports; else they let an address in whatever it wants */
  readonly ports: boolean;
  /** its entries carry our mark; else what is ours is told by `CloudTarget.claims` alone */
  readonly marks: boolean;
  /** how a batch is sent: adds in one call and removals in another, a call for each rule, or one list as a whole */
  readonly batch: 'one-call' | 'call-each' | 'whole-list';
  /** what another's rule lets in needs no rule of ours, and gets none; else ours is made beside it */
  readonly oneRulePerHolder: boolean;
  /** IPv4 and IPv6 rules have room of their own; else they share it */
  readonly roomByVersion: boolean;
  /** no number of openings fills an object: it refuses a list that is too long as text */
  readonly roomByLength?: true;
  /** an object takes addresses of one IP version, here IPv4; else of both */
  readonly oneVersion?: true;
  /** all deployments share one list: what another one put in lets in too */
  readonly oneListForAll?: true;
  /** an entry's address is all that tells it from others: with another address it is another entry */
  readonly addressIsIdentity?: true;
  /** nothing but a write tells whether the credential may write: `verify` cannot know */
  readonly writeTellsAlone?: true;
}

/** A driver, a cloud it works on, and a way to bend and to look at that cloud without the driver. */
export interface DriverBench {
  readonly cloud: CloudFacts;
  readonly driver: ProviderDriver;
  /** an object with nothing open in it, and a credential that may change it; as many as 5 different ones */
  target(number: number): CloudTarget;
  /** another spelling of an object's name; left out: in capitals */
  readonly respelled?: (identifier: string) => string;
  /** an object that does not exist */
  missingTarget(): CloudTarget;
  /** the same object with a secret that the cloud does not know */
  withWrongSecret(target: CloudTarget): CloudTarget;
  /** a credential of nobody the cloud knows */
  unknownCredential(): DriverCredential;
  /** an opening that the cloud refuses, whatever else is sent with it */
  readonly malformedSpec: RuleSpec;
  plant(target: CloudTarget, rule: PlantedRule): Promise<void>;
  openings(target: CloudTarget): Promise<Opening[]>;
  /** The next `count` calls with this effect on the object meet the fault. */
  bend(
    target: CloudTarget,
    effect: Effect,
    fault: Fault,
    options?: { count?: number; delayMs?: number },
  ): Promise<void>;
  /** Another program edits the rules of an address in place; where rules carry marks. */
  readonly edit?: (target: CloudTarget, address: string, edit: RuleEdit) => Promise<void>;
  /** where credentials are exchanged for tokens */
  readonly tokens?: TokenBench;
  /** The credential may no longer look at writes under way; where the cloud has such. */
  readonly refuseWatching?: () => Promise<void>;
  /** The next `count` checks of a credential meet the fault. */
  bendCheck(fault: Fault, options: { count: number }): Promise<void>;
  /** The effects of the calls made on the object so far, in their order, refused ones included. */
  calls(target: CloudTarget): Promise<Effect[]>;
  /** Back to empty objects, no faults, full call budgets. */
  reset(): Promise<void>;
  close(): Promise<void>;
}
