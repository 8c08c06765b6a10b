import { Injectable, Logger } from '@nestjs/common';
import type { Tx } from '#entities';
import { type UserRow, Tenants } from '#tenant-store';
import type { Principal } from '#guards';
import { Mailer } from '#mail';
import { PasswordHasher } from '#secrets';
import { ApiSettings } from '../api.settings';
import { recordAction, objectNamed } from '../audit/action-records';
import { AccountLinks } from '../auth/account-links';
import { invitationMail } from '../auth/account-mails';
import { Invitations, type Invitation } from '../auth/invitations';
import { PasswordPolicyService } from '../auth/password-policy.service';
import { badRequest, forbidden, notFound, notPossible, type ApiError } from '../errors';
import type { Actor } from '../http/actor';
import { Plans } from '../plans/plans';
import type { CreateUserDto } from './dto/user.dto';

export interface AddedUser {
  readonly user: UserRow;
  /** null when the admin gave a password */
  readonly invitation: Invitation | null;
}

/** Adds users to an organization: with a password, or with an invitation to set one. */
@Injectable()
export class NewUsers {
  private readonly logger = new Logger('Invitations');

  constructor(
    private readonly stores: Tenants,
    private readonly policy: PasswordPolicyService,
    private readonly hasher: PasswordHasher,
    private readonly invitations: Invitations,
    private readonly mailer: Mailer,
    private readonly plans: Plans,
    private readonly links: AccountLinks,
    private readonly settings: ApiSettings,
  ) {}

  /** @throws ApiError 404 when a role does not exist, 400 for a weak password, a full plan or a duplicate e-mail */
  async add(actor: Actor, dto: CreateUserDto): Promise<AddedUser> {
    const { principal } = actor;
    const passwordHash = await this.passwordHash(principal, dto.password ?? null);
    const added = await this.stores.transaction((tx) => this.insert(tx, actor, dto, passwordHash));
    if (added.invitation !== null) await this.send(principal, added.user, added.invitation);
    return added;
  }

  private async passwordHash(principal: Principal, password: string | null): Promise<string | null> {
    if (password === null) return null;
    await this.policy.enforce(principal.organizationId, password, 'password');
    return this.hasher.hash(password, { group: principal.userId });
  }

  private async insert(
    tx: Tx,
    actor: Actor,
    dto: CreateUserDto,
    passwordHash: string | null,
  ): Promise<AddedUser> {
    const { principal } = actor;
    const { organizationId } = principal;
    const roleIds = [...new Set(dto.roleIds)];
    const [missing] = await this.stores.users.missingRoles(tx, organizationId, roleIds);
    if (missing !== undefined) throw notFound(`Role ${missing} does not exist`);
    if (!(await this.stores.users.hasRoom(tx, organizationId, this.plans.tierOf))) {
      throw notPossible(
        `The Free plan has room for ${this.plans.free.limits.users} users, invited and deactivated ones included: delete one, ` +
          `or ${this.plans.subscribing}`,
      );
    }
    const { email } = dto;
    const isOrgAdmin = dto.isOrgAdmin ?? false;
    const name = dto.name ?? email.slice(0, email.indexOf('@'));
    const id = await this.stores.users.create(tx, organizationId, { email, name, isOrgAdmin, passwordHash });
    if (id === null) {
      throw notPossible(`A user with the e-mail ${email} exists: use another address`, {
        validationErrors: { email: 'must not be taken' },
      });
    }
    await this.stores.users.giveRoles(tx, organizationId, id, roleIds);
    const invitation = passwordHash === null ? await this.invite(tx, principal, { id, email }) : null;
    await recordAction(tx, actor, 'USER_CREATED', objectNamed('USER', { id, name: email }), {
      isOrgAdmin,
      roleIds,
      invited: invitation !== null,
    });
    const user = (await this.stores.users.find(tx, organizationId, id))!;
    return { user, invitation };
  }

  /**
   * Sends a new invitation to a user without a password and invalidates the earlier one.
   * @throws ApiError 404, 400 when the invitation was accepted or the user is not active, 429 after too many within a day
   */
  async resendInvitation(actor: Actor, id: string): Promise<AddedUser> {
    const { principal } = actor;
    if (principal.suspended) throw forbidden('The organization is suspended: users cannot be invited');
    const { organizationId } = principal;
    const resent = await this.stores.transaction(async (tx) => {
      const before = await this.stores.users.find(tx, organizationId, id);
      if (!before) throw notFound(`User ${id} does not exist`);
      if (!before.isActive) throw badRequest('The user is not active: set isActive first');
      if (before.isService) throw badRequest('A service user has no invitation: it uses API keys');
      if (before.status !== 'INVITED') throw alreadyAccepted();
      const invitation = await this.invite(tx, principal, before);
      // accepted since it was read
      if (!invitation) throw alreadyAccepted();
      await recordAction(tx, actor, 'INVITATION_SENT', { type: 'USER', id, name: before.email });
      return { user: (await this.stores.users.find(tx, organizationId, id))!, invitation };
    });
    await this.send(principal, resent.user, resent.invitation);
    return resent;
  }

  /** @returns null when the user has a password, or is not active */
  private async invite(
    tx: Tx,
    { organizationId, tier }: Principal,
    user: { readonly id: string; readonly email: string },
  ): Promise<Invitation | null> {
    const mailedBy = this.mailer.delivery === 'nowhere' ? null : tier;
    const invitation = await this.invitations.invite(tx, organizationId, user, mailedBy);
    return (await this.stores.users.recordInvitation(tx, organizationId, user.id)) ? invitation : null;
  }

  /** A failed mail does not undo the invitation: the response to the admin contains the link. */
  private async send(principal: Principal, user: UserRow, { url: link, token }: Invitation): Promise<void> {
    if (this.mailer.delivery === 'nowhere') return;
    const { organizationName, organizationSlug } = principal;
    // where registration is open, no address is proven
    const email = this.settings.REGISTRATION === 'open' ? null : principal.email;
    const invitedBy = { name: principal.name, email };
    const { email: to, name } = user;
    const waysIn = this.links.waysIn(organizationSlug);
    const organization = { organizationName, organizationSlug };
    const mail = invitationMail({ to, name, invitedBy, ...organization, link, token, ...waysIn });
    try {
      await this.mailer.send(mail);
    } catch (error) {
      this.logger.error({
        msg: 'An invitation could not be mailed; the response to the admin contains its link',
        userId: user.id,
        reason: error instanceof Error ? error.message : 'unknown',
      });
    }
  }
}

const alreadyAccepted = (): ApiError =>
  badRequest('The user has accepted the invitation: there is a password');
