import { Injectable } from '@nestjs/common';
import { type UserRow, Tenants } from '#tenant-store';
import type { Principal } from '#guards';
import { Mailer } from '#mail';
import { recordAction } from '../audit/action-records';
import { PasswordResetLinks } from '../auth/password-reset-links';
import { badRequest, forbidden, notFound, notPossible, tooManyRequests, type ApiError } from '../errors';
import type { Actor } from '../http/actor';

const AN_HOUR_SECONDS = 60 * 60;

/** Links with which users set a new password, for an administrator to pass on where mail is not sent or does not arrive. */
@Injectable()
export class PasswordLinks {
  constructor(
    private readonly stores: Tenants,
    private readonly links: PasswordResetLinks,
    private readonly mailer: Mailer,
  ) {}

  /**
   * @returns the link
   * @throws ApiError 400 for a user without a password, 403 for the caller, for operators of the platform, and where mail is sent
   *   unless the caller has just proven the second factor, 404, 429
   */
  create(actor: Actor, id: string): Promise<string> {
    const { principal } = actor;
    const { organizationId, userId: passedOnBy, signIn } = principal;
    return this.stores.transaction(async (tx) => {
      const user = await this.stores.users.find(tx, organizationId, id);
      if (!user) throw notFound(`User ${id} does not exist`);
      refuseUnlessOrdinary(user, principal);
      const isProven =
        signIn !== null && (await this.stores.mfa.isSteppedUp(tx, organizationId, passedOnBy, signIn.id));
      if (this.mailer.delivery === 'inbox' && !isProven) throw needsSecondFactor(principal);
      const link = await this.links.create(tx, { userId: user.id, organizationId }, passedOnBy);
      if (!link) throw tooManyRequests(`${user.email} got too many links within an hour`, AN_HOUR_SECONDS);
      const object = { type: 'USER', id: user.id, name: user.email };
      await recordAction(tx, actor, 'PASSWORD_RESET_REQUESTED', object);
      return link.url;
    });
  }
}

/** The user could have a link mailed: who passes one on instead has to be who they say. Programs tell it by its `error`. */
const needsSecondFactor = ({ mfaEnabled }: Principal): ApiError =>
  mfaEnabled
    ? forbidden(
        'This deployment sends mail (POST /auth/forgot-password): a link to pass on needs your second factor again: POST ' +
          '/auth/step-up {code}',
        'Second factor required',
      )
    : forbidden(
        'This deployment sends mail (POST /auth/forgot-password): a link to pass on needs a second factor of yours: set it up ' +
          'with POST /mfa/setup, or ask an operator, who has drawbridge-admin password-link',
      );

function refuseUnlessOrdinary(user: UserRow, caller: Principal): void {
  // a stolen access token must not be enough to set a password
  if (user.id === caller.userId)
    throw forbidden('Your own password takes the current one: use POST /auth/change-password');
  // an administrator of an organization must not become an operator of the platform
  if (user.platformRole !== 'CUSTOMER')
    throw forbidden(
      'The user is an operator of the platform, and gets a link with drawbridge-admin password-link only',
    );
  if (user.isService) throw badRequest('A service user has no password: it uses API keys');
  if (!user.isActive) throw notPossible('The user is not active: set isActive first');
  if (user.status === 'INVITED')
    throw notPossible(
      'The user has no password yet: use POST /users/{id}/resend-invitation (drawbridge users invite EMAIL)',
    );
}
