import type { ChangeResult, ResourceConfig } from '#rules';
import type { CallFailure } from '../call-failure';
import type { Inspection, RuleChange, Verified } from '../provider-driver';

/** The outcome of a batch. */
export interface Applied {
  readonly results: ChangeResult[];
  /** after which no further change was sent, or no further removal; null: none */
  readonly failure: CallFailure | null;
}

/** One target of Azure, for one driver call. */
export interface AzureTarget {
  /** As `CloudDriver.verify`, except the identity. */
  verify(config: ResourceConfig): Promise<Verified>;
  read(): Promise<Inspection>;
  /** As `read`, and deletes some of what removals left behind. */
  inspect(): Promise<Inspection>;
  apply(changes: readonly RuleChange[]): Promise<Applied>;
}
