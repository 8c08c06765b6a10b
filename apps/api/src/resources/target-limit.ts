import type { Tx } from '#entities';
import type { ResourceRow, ResourceStore } from '#tenant-store';
import { MAX_RESOURCES_PER_TARGET, type OrganizationId } from '#rules';
import { notPossible } from '../errors/api-error';

/**
 * Refuses a resource on a target that has the maximum number of the organization's resources. The target row is locked,
 * so concurrent requests count each other.
 * @param named `id` null: it is being created
 * @throws ApiError 400 naming the target and the limit
 */
export async function refuseFullTarget(
  resources: ResourceStore,
  tx: Tx,
  organization: OrganizationId,
  targetId: string,
  named: Pick<ResourceRow, 'provider' | 'resourceIdentifier'> & { readonly id: string | null },
): Promise<void> {
  if (await resources.hasRoomOnTarget(tx, organization, targetId, named.id)) return;
  const message =
    `names ${named.provider} ${named.resourceIdentifier}, which ${MAX_RESOURCES_PER_TARGET} resources of the ` +
    'organization name already: no more may name one target. Delete one of them, or use one of them';
  throw notPossible(`resourceIdentifier ${message}`, { validationErrors: { resourceIdentifier: message } });
}
