import { Injectable, Logger } from '@nestjs/common';
import { Database, type Tx } from '#entities';
import { AuditStore, type UserRow, UserStore } from '#tenant-store';
import type { Principal } from '#guards';
import type { HostAddress, OrganizationId } from '#rules';
import { PasswordHasher } from '#secrets';
import { auditActor } from '../audit/audit-actor';
import { invitationMail } from '../auth/account-mails';
import { Invitations, type Invitation } from '../auth/invitations';
import { PasswordRules } from '../auth/password-rules';
import { badRequest, forbidden, notFound, notPossible, type ApiError } from '../errors';
import { Mailer } from '../mail/mailer';
import type { CreateUserDto } from './dto/user.dto';

export interface NewcomerRow {
  readonly user: UserRow;
  /** null when the admin gave a password */
  readonly invitation: Invitation | null;
}

/** Adds users to an organization: with a password, or with an invitation to set one. */
@Injectable()
export class NewUsers {
  private readonly logger = new Logger('Invitations');

  constructor(
    private readonly database: Database,
    private readonly users: UserStore,
    private readonly rules: PasswordRules,
    private readonly hasher: PasswordHasher,
    private readonly audit: AuditStore,
    private readonly invitations: Invitations,
    private readonly mailer: Mailer,
  ) {}

  /** @throws ApiError 404 for a role that does not exist, 400 for a weak password, a full plan or a known e-mail */
  async add(principal: Principal, asked: CreateUserDto, caller: HostAddress | null): Promise<NewcomerRow> {
    const passwordHash = await this.passwordHash(principal, asked.password ?? null);
    const added = await this.database.transaction((tx) =>
      this.insert(tx, principal, asked, passwordHash, caller),
    );
    if (added.invitation !== null) await this.send(principal, added.user, added.invitation);
    return added;
  }

  private async passwordHash(principal: Principal, password: string | null): Promise<string | null> {
    if (password === null) return null;
    await this.rules.refuseBad(principal.organizationId, password, 'password');
    return this.hasher.hash(password);
  }

  private async insert(
    tx: Tx,
    principal: Principal,
    asked: CreateUserDto,
    passwordHash: string | null,
    caller: HostAddress | null,
  ): Promise<NewcomerRow> {
    const { organizationId } = principal;
    const roleIds = [...new Set(asked.roleIds)];
    const [missing] = await this.users.missingRoles(tx, organizationId, roleIds);
    if (missing !== undefined) throw notFound(`Role ${missing} does not exist`);
    if (!(await this.users.hasRoom(tx, organizationId))) {
      throw notPossible(
        'The plan’s maximum of users is reached: delete a user, or subscribe with POST /billing/subscribe',
      );
    }
    const { email } = asked;
    const isOrgAdmin = asked.isOrgAdmin ?? false;
    const name = asked.name ?? email.slice(0, email.indexOf('@'));
    const id = await this.users.create(tx, organizationId, { email, name, isOrgAdmin, passwordHash });
    if (id === null) {
      throw notPossible(`A user with the e-mail ${email} exists: use another address`, {
        validationErrors: { email: 'must not be taken' },
      });
    }
    await this.users.giveRoles(tx, organizationId, id, roleIds);
    const invitation = passwordHash === null ? await this.invite(tx, organizationId, { id, email }) : null;
    await this.audit.write(tx, organizationId, {
      ...auditActor(principal, caller?.text ?? null),
      eventType: 'USER_CREATED',
      resourceType: 'USER',
      resourceId: id,
      resourceName: email,
      details: { isOrgAdmin, roleIds, invited: invitation !== null },
    });
    const user = (await this.users.find(tx, organizationId, id))!;
    return { user, invitation };
  }

  /**
   * Invites somebody again who has not set a password yet; the earlier link works no more.
   * @throws ApiError 404, 400 when the invitation was accepted or the user is not active, 429 after three within a day
   */
  async inviteAgain(principal: Principal, id: string, caller: HostAddress | null): Promise<NewcomerRow> {
    if (principal.suspended) throw forbidden('The organization is suspended: nobody new can be invited');
    const { organizationId } = principal;
    const again = await this.database.transaction(async (tx) => {
      const before = await this.users.find(tx, organizationId, id);
      if (!before) throw notFound(`User ${id} does not exist`);
      if (!before.isActive) throw badRequest('The user is not active: set isActive first');
      if (before.isService) throw badRequest('A service user has no invitation: it uses API keys');
      if (before.status !== 'INVITED') throw accepted();
      const invitation = await this.invite(tx, organizationId, before);
      // accepted since it was looked at
      if (!invitation) throw accepted();
      await this.audit.write(tx, organizationId, {
        ...auditActor(principal, caller?.text ?? null),
        eventType: 'INVITATION_SENT',
        resourceType: 'USER',
        resourceId: id,
        resourceName: before.email,
      });
      return { user: (await this.users.find(tx, organizationId, id))!, invitation };
    });
    await this.send(principal, again.user, again.invitation);
    return again;
  }

  /** @returns null when the user has a password, or is not active */
  private async invite(
    tx: Tx,
    organizationId: OrganizationId,
    user: { readonly id: string; readonly email: string },
  ): Promise<Invitation | null> {
    const invitation = await this.invitations.invite(tx, organizationId, user);
    return (await this.users.noteInvitation(tx, organizationId, user.id)) ? invitation : null;
  }

  /** The invitation stands when the mail cannot be sent: the admin has its address in the answer. */
  private async send(principal: Principal, user: UserRow, { url: link, token }: Invitation): Promise<void> {
    const { organizationName, organizationSlug, name: invitedBy } = principal;
    const { email: to, name } = user;
    const mail = invitationMail({ to, name, invitedBy, organizationName, organizationSlug, link, token });
    try {
      await this.mailer.send(mail);
    } catch (error) {
      this.logger.error({
        msg: 'An invitation could not be mailed; the answer to the admin holds its address',
        userId: user.id,
        reason: error instanceof Error ? error.message : 'unknown',
      });
    }
  }
}

const accepted = (): ApiError => badRequest('The user has accepted the invitation: there is a password');
