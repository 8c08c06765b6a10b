import { Injectable } from '@nestjs/common';
import { Database } from '#entities';
import { PasswordStore } from '#tenant-store';
import { passwordProblem, type OrganizationId } from '#rules';
import { PasswordHasher } from '#secrets';
import { badRequest, type ApiError } from '../errors';

/** Refuses passwords. */
@Injectable()
export class PasswordRules {
  constructor(
    private readonly database: Database,
    private readonly passwords: PasswordStore,
    private readonly hasher: PasswordHasher,
  ) {}

  /** @throws ApiError 400 naming the field, when the password breaks the organization's policy */
  async refuseBad(organization: OrganizationId, password: string, field: string): Promise<void> {
    const policy = await this.passwords.policy(this.database.autocommit, organization);
    const problem = passwordProblem(password, policy);
    if (problem !== null) throw refusedPassword(field, problem);
  }

  /** @throws ApiError 400 when the user has this very password */
  async refuseSame(
    { organizationId, userId }: { readonly organizationId: OrganizationId; readonly userId: string },
    password: string,
  ): Promise<void> {
    const hash = await this.passwords.hash(this.database.autocommit, organizationId, userId);
    if (await this.hasher.verify(password, hash)) {
      throw refusedPassword('newPassword', 'must differ from the expired password');
    }
  }
}

/** 400: what a password in a field must be. */
export const refusedPassword = (field: string, problem: string): ApiError =>
  badRequest(`${field} ${problem}`, { [field]: problem });
