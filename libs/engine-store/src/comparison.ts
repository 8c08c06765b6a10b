import type { KnownRule, OrganizationId } from '#rules';
import type { Access } from './convergence.store';

/** A resource that names the target. */
export interface NamingResource {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly name: string;
  /** what the last comparison told of it; null: none did */
  readonly lastOutcome: ComparisonOutcome | null;
}

export interface ComparisonOutcome {
  readonly eventType: 'RECONCILE_OK' | 'RECONCILE_FAILED';
  readonly message: string | null;
}

/** One way into a target, and the resources whose own way it is. */
export interface ReconcileWay {
  readonly access: Access;
  readonly resources: readonly NamingResource[];
}

/** An event of resources. */
export interface HealthReport extends ComparisonOutcome {
  readonly resources: readonly Pick<NamingResource, 'id' | 'organizationId'>[];
}

/** A rule that is gone although it should be present. */
export interface LostRule {
  readonly id: string;
  /** another program removes it again and again: it is left alone for an hour */
  readonly isSuspended: boolean;
}

/** Live rules of a target, and the digest of its unmanaged ones at the last comparison. */
export interface KnownRules {
  readonly rules: readonly (KnownRule & { readonly targetMissing: boolean; readonly wasObserved: boolean })[];
  readonly unmanagedDigest: string | null;
}
