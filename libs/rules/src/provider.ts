export const PROVIDERS = ['AWS', 'GCP', 'AZURE', 'APISIX', 'VERCEL', 'AGENT'] as const;
export type Provider = (typeof PROVIDERS)[number];

/** What the provider's cloud shows in one target, reduced to what planning needs. */
export interface ObservedRule {
  /** `ruleKey` of what the cloud lets in */
  readonly key: string;
  /** the provider's own id of the rule */
  readonly providerRuleId: string;
  /** our deployment's rule id when the rule carries our mark; null: an unmanaged rule, or one of ours that lost it */
  readonly ownRuleId: string | null;
  /**
   * false: the rule stands, and the cloud says that it does not (yet) let its address in, or may not. One of ours is
   * written again while it is desired, and removed like any other when it is not.
   */
  readonly inForce?: false;
}

/**
 * Each kind has its own consequence: `throttled`, `transient` and `conflict` are tried again; `denied`,
 * `target-missing`, `quota` and `invalid` end an add at once; a remove is tried again whatever the kind.
 */
export const DRIVER_ERROR_KINDS = [
  'throttled',
  'transient',
  'conflict',
  'denied',
  'target-missing',
  'quota',
  'invalid',
] as const;
export type DriverErrorKind = (typeof DRIVER_ERROR_KINDS)[number];

/** Kinds after which the same add may still work. */
export const RETRYABLE_KINDS: ReadonlySet<DriverErrorKind> = new Set(['throttled', 'transient', 'conflict']);

/** What became of one change. `unknown`: the cloud may or may not have done it, only reading tells. */
export type ChangeResult =
  | { readonly result: 'done'; readonly providerRuleId: string | null }
  | {
      readonly result: 'refused';
      readonly kind: DriverErrorKind;
      readonly message: string;
      /** how long the provider asked us to wait, when it did */
      readonly retryAfterMs?: number;
    }
  | { readonly result: 'unknown'; readonly message: string };
