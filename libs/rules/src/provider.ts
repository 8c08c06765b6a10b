export const PROVIDERS = ['AWS', 'GCP', 'AZURE', 'APISIX', 'VERCEL', 'ATLAS', 'AGENT'] as const;
export type Provider = (typeof PROVIDERS)[number];

/** A rule observed on a target, reduced to what planning needs. */
export interface ObservedRule {
  /** `ruleKey` of the traffic it allows */
  readonly key: string;
  /** the provider's own id of the rule */
  readonly providerRuleId: string;
  /** our rule id, from the mark; null: an unmanaged rule, or a rule of ours that lost its mark */
  readonly ownRuleId: string | null;
  /**
   * false: the rule is present, but the provider reports that it does not (or may not) take effect. A rule of ours is
   * written again while it is desired, and removed like any other when it is not.
   */
  readonly inForce?: false;
  /**
   * Why the rule has no effect although it is present as written, as a message: another rule blocks it, or the list it is on
   * is not asked. Only the tenant can change that: it is not written again.
   */
  readonly noEffect?: string;
  /**
   * How a rule of ours differs from what we write for its key, where its keys do not show it, as a phrase: `it is disabled`.
   * It is written again while it is desired.
   */
  readonly difference?: string;
  /** when the provider ends it by itself, seconds since 1970; omitted: never */
  readonly endsAt?: number;
}

/**
 * `throttled`, `transient` and `conflict` are retryable. `denied`, `invalid` and `wrong-family` fail an addition at once,
 * `quota` after two more tries. A removal is retried after any kind. `target-missing`: also the answer of a wrong region, a changed identity or a
 * lagging replica. `wrong-family`: the target holds no addresses of this IP version.
 */
export const DRIVER_ERROR_KINDS = [
  'throttled',
  'transient',
  'conflict',
  'denied',
  'target-missing',
  'quota',
  'invalid',
  'wrong-family',
] as const;
export type DriverErrorKind = (typeof DRIVER_ERROR_KINDS)[number];

/** Kinds after which the same addition may still succeed. */
export const RETRYABLE_KINDS: ReadonlySet<DriverErrorKind> = new Set(['throttled', 'transient', 'conflict']);

/** Whether an addition fails at once. A target that is not found may be there again in a moment. */
export const failsAddition = (kind: DriverErrorKind): boolean =>
  !RETRYABLE_KINDS.has(kind) && kind !== 'target-missing';

/** Outcome of a change. `unknown`: the provider may or may not have applied it; only a read can tell. */
export type ChangeResult =
  | {
      readonly result: 'done';
      readonly providerRuleId: string | null;
      /** for a removal that left something behind which admits no traffic */
      readonly note?: string;
      /** the provider did not find what was to be removed: a rule that was there a moment ago may be missing in a late read */
      readonly wasAbsent?: true;
      /** this addition created the rule of that id */
      readonly isNew?: true;
    }
  | {
      readonly result: 'refused';
      readonly kind: DriverErrorKind;
      readonly message: string;
      /** requested by the provider */
      readonly retryAfterMs?: number;
      /** nothing was sent: it waits for the calls of its account, which is no failed attempt */
      readonly isTurn?: true;
    }
  | {
      readonly result: 'unknown';
      readonly message: string;
      /** when a read may show it, where the provider has accepted the change and needs longer than a call may take */
      readonly retryAfterMs?: number;
    };
