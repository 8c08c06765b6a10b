import { Injectable } from '@nestjs/common';
import { AccountStore, AuditStore, Database } from '#entities';
import { hashPassword } from '#secrets';
import { auditActor } from '../audit/audit-actor';
import type { RegisterDto } from './dto/credentials.dto';
import type { SignInOutcome } from './sign-in.service';
import { principalOf } from './stored-principals';
import { TokenService } from './token.service';

/** Registers organizations. */
@Injectable()
export class RegistrationService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountStore,
    private readonly audit: AuditStore,
    private readonly tokens: TokenService,
  ) {}

  /** A new organization with its first admin, signed in. */
  async register(asked: RegisterDto, callerAddress: string | null): Promise<SignInOutcome> {
    const { organizationName, email } = asked;
    const passwordHash = await hashPassword(asked.password);
    const name = asked.name ?? email.slice(0, email.indexOf('@'));
    const pair = await this.database.transaction(async (tx) => {
      const given = { organizationName, email, passwordHash, name };
      const { userId, organizationId } = await this.accounts.registerOrganization(tx, given);
      await this.accounts.recordLogin(tx, userId);
      const principal = principalOf(await this.accounts.principalOfUser(tx, userId, organizationId))!;
      await this.audit.write(tx, organizationId, {
        ...auditActor(principal, callerAddress),
        eventType: 'ORGANIZATION_REGISTERED',
        resourceType: 'ORGANIZATION',
        resourceId: organizationId,
        resourceName: organizationName,
      });
      return this.tokens.start(tx, principal, false);
    });
    return { step: 'signed-in', pair, mfaSetupRequired: false };
  }
}
