import type { Schemas } from '../../api';
import { Badge } from '../../ui';

type Resource = Schemas['ResourceDto'];

/** Whether new sessions may use a resource, and if not, why. */
export function ResourceBadge({ of }: { readonly of: Resource }) {
  if (of.isActive) return <Badge tone="good">active</Badge>;
  if (of.verificationError !== null) return <Badge tone="bad">verification failed</Badge>;
  return of.lastVerifiedAt === null ? <Badge tone="warn">not verified yet</Badge> : <Badge>paused</Badge>;
}
