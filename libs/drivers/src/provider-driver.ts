import type { ChangeResult, ObservedRule, OwnershipMark, Provider, ResourceConfig, RuleSpec } from '#rules';

/** Decrypted credential of a tenant; lives only as long as one convergence or check. */
export interface DriverCredential {
  readonly credentialType: string;
  /** the secret fields of the contract for this credentialType */
  readonly data: Readonly<Record<string, string>>;
  /** ours, for roles that are assumed: proves to the tenant's role which organization asks */
  readonly externalId: string | null;
}

/** One target and the way into it. */
export interface CloudTarget {
  readonly resourceType: string;
  /** the object's one name, as `ResourceTypeFacts.place` made it */
  readonly identifier: string;
  readonly region: string | null;
  readonly credential: DriverCredential;
  /** whose marks are ours */
  readonly deployment: string;
  /**
   * What stands in the object by our record: the rule's key, and its id. For clouds whose entries carry no mark;
   * the other drivers do not use it. Of the rules that are due; with `traits.wholeList` of every rule.
   */
  readonly claims: ReadonlyMap<string, string>;
}

export type RuleChange =
  | {
      readonly action: 'add';
      readonly ruleId: string;
      readonly spec: RuleSpec;
      readonly mark: OwnershipMark;
      /** of the resource that wants it */
      readonly config: ResourceConfig;
    }
  | {
      /** By the provider's id alone, whether or not the rule still carries our mark. */
      readonly action: 'remove';
      readonly ruleId: string;
      readonly providerRuleId: string;
    };

/** Plain facts about a provider that planning and fairness need. */
export interface DriverTraits {
  /** most changes worth sending in one `applyChanges` */
  readonly batchSize: number;
  /** write calls the provider lets one account make: a bucket of `burst`, refilled by `refillPerSecond` */
  readonly writeBudget: { readonly burst: number; readonly refillPerSecond: number };
  /** each change is a write call of its own; left out: additions take one call and removals another */
  readonly callPerRule?: true;
  /**
   * an object's openings are one list that each write replaces: a write that lands late undoes what came after it, and
   * a list that somebody deleted is made again from `CloudTarget.claims`
   */
  readonly wholeList?: true;
  /** writes to one object keep a distance, so that what arrives meanwhile goes into one call */
  readonly writeSpacing: {
    readonly usualMs: number;
    /** for adds after a write of `burstSize` changes or more */
    readonly burstMs: number;
    readonly burstSize: number;
  };
  /** how long one call may take before its outcome counts as unknown, ms */
  readonly callTimeoutMs: number;
}

/**
 * The port every provider is behind. A driver never retries anything but a request whose cached token was refused,
 * never logs, never touches the database, and keeps no state but clients and short-lived tokens.
 */
export interface ProviderDriver {
  readonly kind: Provider;
  readonly traits: DriverTraits;
  /** The account whose write budget a call draws on. */
  accountKey(target: CloudTarget): string;
  /**
   * Proves that the provider takes the credential, whatever it may do there. Changes nothing, and never takes an older
   * proof for a new one.
   * @throws DriverError of a passing kind when the provider did not say
   */
  checkCredential(credential: DriverCredential): Promise<void>;
  /**
   * Proves, as far as the provider lets it be asked, that the credential may read, open and close here. Changes
   * nothing. @throws DriverError
   */
  verify(target: CloudTarget): Promise<void>;
  /**
   * Every rule that lets traffic in, ours and unmanaged, all pages. A rule has the id that its addition was answered with,
   * and keeps it when somebody edits its mark, address or ports. @throws DriverError
   */
  readRules(target: CloudTarget): Promise<ObservedRule[]>;
  /**
   * Sends one batch, removals first. Adding what exists and removing what is absent succeed. The id of what exists may
   * be that of an unmanaged rule: only a read tells whose it is.
   * @returns one result for each change, in their order; a cut or timed-out call gives `unknown`
   * @throws DriverError only when nothing was sent
   */
  applyChanges(target: CloudTarget, changes: readonly RuleChange[]): Promise<ChangeResult[]>;
}
