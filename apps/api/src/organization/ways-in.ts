import type { Tx } from '#entities';
import type { Principal } from '#guards';
import type { OrganizationRow, TenantStores } from '#tenant-store';
import { invalidField } from '../errors';
import type { UpdateOrganizationDto } from './dto/organization.dto';

/**
 * Keeps an organization that asks for company sign-in from locking itself out. Call it while the organization is locked.
 * @throws ApiError 400 naming the field and what to do first
 */
export async function refuseLockOut(
  stores: TenantStores,
  tx: Tx,
  { organizationId, companySignIn }: Principal,
  before: OrganizationRow,
  dto: UpdateOrganizationDto,
): Promise<void> {
  const { ssoRequired = before.ssoRequired, recoveryAdministratorId = before.recoveryAdministratorId } = dto;
  if (
    recoveryAdministratorId !== null &&
    recoveryAdministratorId !== before.recoveryAdministratorId &&
    !(await stores.users.mayRecover(tx, organizationId, recoveryAdministratorId))
  )
    throw invalidField(
      'recoveryAdministratorId',
      'must be an active administrator of the organization with a password and MFA: they set it up with POST /mfa/setup',
    );
  if (!ssoRequired) return;
  if (recoveryAdministratorId === null)
    throw invalidField(
      'recoveryAdministratorId',
      'is needed while ssoRequired is true: name an administrator with a password and MFA',
    );
  if (before.ssoRequired) return;
  if (!(await stores.identityProviders.hasEnabled(tx, organizationId)))
    throw invalidField(
      'ssoRequired',
      'needs an identity provider that is enabled: create one with POST /identity-providers',
    );
  if (companySignIn !== 'used')
    throw invalidField(
      'ssoRequired',
      'can be set only by who is signed in with an identity provider, which shows that it works: sign in with it first',
    );
}
