import type { Provider, ResourceConfig, Room } from '#rules';

export interface ResourceRow {
  readonly id: string;
  readonly name: string;
  readonly credentialId: string;
  readonly credentialName: string;
  /** of the credential's row for the resource's account, or the credential itself: what its rules are written with */
  readonly accessId: string;
  /** of the target; null: not known */
  readonly account: string | null;
  readonly accountLabel: string | null;
  readonly targetId: string;
  /** unique over all providers */
  readonly targetKey: string;
  readonly provider: Provider;
  readonly resourceType: string;
  readonly resourceIdentifier: string;
  /** passed to the driver */
  readonly targetIdentifier: string;
  readonly region: string | null;
  /** what people connect to */
  readonly endpoint: string | null;
  readonly config: ResourceConfig;
  /** with those that the database adds */
  readonly labels: Readonly<Record<string, string>>;
  readonly isActive: boolean;
  readonly lastVerifiedAt: Date | null;
  /** why the last verification failed; null: it did not, or there was none */
  readonly verificationError: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** of its target; null: no limit is known, or the organization has not proven write access to it */
  readonly room: readonly Room[] | null;
}

export interface NewResource {
  readonly name: string;
  readonly accessId: string;
  readonly account: string | null;
  readonly provider: Provider;
  readonly resourceType: string;
  readonly resourceIdentifier: string;
  readonly region: string | null;
  /** what people connect to */
  readonly endpoint: string | null;
  readonly config: ResourceConfig;
  readonly labels: ResourceRow['labels'];
  /** the target it points at, see `ResourceTypeFacts.place` */
  readonly object: { readonly key: string; readonly identifier: string };
}

/** Everything a PATCH may set; unchanged fields have their old values. */
export type ResourceChange = Omit<NewResource, 'provider' | 'resourceType'> & { readonly isActive: boolean };

/** A resource locked against moving and deletion, with the target of its rules. */
export interface LockedTarget {
  readonly resourceId: string;
  readonly resourceName: string;
  readonly revision: number;
  readonly provider: Provider;
  readonly resourceType: string;
  readonly targetId: string;
  readonly config: ResourceConfig;
}
