import type { KnownRule, OrganizationId, OwnedAccess, ResourceConfig } from '#rules';

/** A resource that points at the target. */
export interface NamingResource {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly name: string;
  /** of the last comparison that reported on it; null: none has */
  readonly lastOutcome: ComparisonOutcome | null;
}

/** A resource whose target is compared with the traffic that it lets in. */
export interface ComparedResource extends NamingResource {
  readonly config: ResourceConfig;
}

/** SQL: the fields of the `ComparedResource` `resources r`, for `jsonb_build_object`. */
export const COMPARED_RESOURCE = `'id', r.id, 'organizationId', r.organization_id, 'name', r.name, 'config', r.config,
  'lastOutcome', (
    SELECT jsonb_build_object('eventType', e.event_type, 'message', e.message) FROM resource_health_events e
    WHERE e.resource_id = r.id AND e.event_type IN ('RECONCILE_OK', 'RECONCILE_FAILED')
    ORDER BY e.created_at DESC LIMIT 1)`;

interface ComparisonOutcome {
  readonly eventType: 'RECONCILE_OK' | 'RECONCILE_FAILED';
  readonly message: string | null;
}

/** An access path to a target, and the resources that use it. */
export interface AccessPath {
  readonly access: OwnedAccess;
  /** one of the resources has proven that the path may write there */
  readonly isProven: boolean;
  readonly resources: readonly ComparedResource[];
}

/** A health event for several resources. */
export interface HealthReport extends ComparisonOutcome {
  readonly resources: readonly (Pick<NamingResource, 'id' | 'organizationId'> & {
    readonly name: string | null;
  })[];
  /** Drawbridge does not put it right by itself, and nothing else says so */
  readonly needsPeople: boolean;
}

/** Recorded rules of a target, and the digest of its unmanaged rules at the last comparison. */
export interface KnownRules {
  readonly rules: readonly (KnownRule & { readonly targetMissing: boolean; readonly wasObserved: boolean })[];
  readonly unmanagedDigest: string | null;
}
