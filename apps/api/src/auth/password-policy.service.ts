import { Injectable } from '@nestjs/common';
import { Tenants } from '#tenant-store';
import { passwordProblem, type OrganizationId } from '#rules';
import { PasswordHasher } from '#secrets';
import { invalidField } from '../errors';

/** Enforces the organizations' password policies. */
@Injectable()
export class PasswordPolicyService {
  constructor(
    private readonly stores: Tenants,
    private readonly hasher: PasswordHasher,
  ) {}

  /** @throws ApiError 400 naming the field, when the password breaks the organization's policy */
  async enforce(organization: OrganizationId, password: string, field: string): Promise<void> {
    const policy = await this.stores.passwords.policy(this.stores.autocommit, organization);
    const problem = passwordProblem(password, policy);
    if (problem !== null) throw invalidField(field, problem);
  }

  /** @throws ApiError 400 when it is the user's current password */
  async requireDifferent(
    { organizationId, userId }: { readonly organizationId: OrganizationId; readonly userId: string },
    password: string,
  ): Promise<void> {
    const hash = await this.stores.passwords.hash(this.stores.autocommit, organizationId, userId);
    if (await this.hasher.verify(password, hash, { group: userId })) {
      throw invalidField('newPassword', 'must differ from the expired password');
    }
  }
}
