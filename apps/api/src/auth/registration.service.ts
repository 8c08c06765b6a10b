import { Injectable } from '@nestjs/common';
import { Tenants } from '#tenant-store';
import { PasswordHasher } from '#secrets';
import { ApiSettings } from '../api.settings';
import { recordAction } from '../audit/action-records';
import { forbidden, type ApiError } from '../errors';
import type { RegisterDto } from './dto/credentials.dto';
import { hashClientOf, type SignInClient } from './sign-in-client';
import { SignInService, type SignInOutcome } from './sign-in.service';
import { StoredPrincipals } from './stored-principals';

/** Registers organizations. */
@Injectable()
export class RegistrationService {
  constructor(
    private readonly stores: Tenants,
    private readonly principals: StoredPrincipals,
    private readonly signIn: SignInService,
    private readonly hasher: PasswordHasher,
    private readonly settings: ApiSettings,
  ) {}

  /**
   * Creates an organization with its first administrator and signs the administrator in.
   * @throws ApiError 403 where registration is closed
   */
  async register(dto: RegisterDto, client: SignInClient): Promise<SignInOutcome> {
    const { organizationName, email } = dto;
    const { REGISTRATION } = this.settings;
    // a refusal costs no hash, and takes no lock
    if (REGISTRATION === 'closed') throw closed();
    if (REGISTRATION === 'first' && !(await this.stores.accounts.isEmpty(this.stores.autocommit)))
      throw closed();
    const passwordHash = await this.hasher.hash(dto.password, hashClientOf(client));
    const name = dto.name ?? email.slice(0, email.indexOf('@'));
    return this.stores.transaction(async (tx) => {
      if (REGISTRATION === 'first' && !(await this.stores.accounts.isEmptyAndLocked(tx))) throw closed();
      const given = { organizationName, email, passwordHash, name };
      const { userId, organizationId } = await this.stores.accounts.registerOrganization(tx, given);
      await this.stores.accounts.recordLogin(tx, userId);
      const principal = (await this.principals.ofAccount(tx, userId, organizationId))!;
      await recordAction(tx, { principal, address: client.address }, 'ORGANIZATION_REGISTERED', {
        type: 'ORGANIZATION',
        id: organizationId,
        name: organizationName,
      });
      return this.signIn.issueTokens(tx, principal, false, {
        client,
        deviceToken: null,
        attemptId: null,
      });
    });
  }
}

const closed = (): ApiError =>
  forbidden(
    'Registration is closed: an operator of this deployment creates organizations with drawbridge-admin ' +
      'create-organization. To join one, ask its administrator for an invitation',
  );
