import { Injectable } from '@nestjs/common';
import type { Tx } from '#entities';
import { AccountStore, AccountTokenStore } from '#tenant-store';
import { StepTokens, type Principal } from '#guards';
import { newOpaqueToken } from '#secrets';
import { unauthorized, type ApiError } from '../errors';
import { AccountAudit } from './account-audit';
import { KnownDevices } from './known-devices';
import { MfaChallenges } from './mfa-challenges';
import type { SignInClient } from './sign-in-client';
import { principalOf } from './stored-principals';
import { TokenService, type TokenPair } from './token.service';

const PASSWORD_CHANGE_SECONDS = 600;

export interface Account {
  readonly userId: string;
  readonly organizationId: string;
}

/** What follows a right password. */
export type SignInOutcome =
  | { readonly step: 'mfa-challenge'; readonly token: string; readonly expiresIn: number }
  | { readonly step: 'password-change'; readonly token: string }
  | {
      readonly step: 'signed-in';
      readonly pair: TokenPair;
      readonly mfaSetupRequired: boolean;
      readonly deviceToken: string;
    };

/** How far somebody has come, and from where. */
export interface SignInProgress {
  /** whether a second factor was proved on the way here */
  readonly mfaPassed: boolean;
  readonly client: SignInClient;
  /** what the client says it was given at an earlier sign-in */
  readonly deviceToken: string | null;
}

/** The way from a right password to being signed in: second factor, then an expired password, then tokens. */
@Injectable()
export class SignInService {
  constructor(
    private readonly accounts: AccountStore,
    private readonly challenges: MfaChallenges,
    private readonly accountTokens: AccountTokenStore,
    private readonly steps: StepTokens,
    private readonly tokens: TokenService,
    private readonly devices: KnownDevices,
    private readonly audit: AccountAudit,
  ) {}

  /** @throws ApiError 401 when the user was deactivated or deleted meanwhile */
  async goOn(tx: Tx, account: Account, progress: SignInProgress): Promise<SignInOutcome> {
    const { userId, organizationId } = account;
    const { mfaPassed, client } = progress;
    const principal = principalOf(await this.accounts.principalOfUser(tx, userId, organizationId));
    const demands = await this.accounts.signInDemands(tx, userId, organizationId);
    if (!principal || !demands) throw wrongCredentials();
    if (principal.mfaEnabled && !mfaPassed) {
      return { step: 'mfa-challenge', ...(await this.challenges.begin(tx, principal)) };
    }
    if (demands.passwordExpired) return this.askForPassword(tx, principal, mfaPassed);
    await this.accounts.recordLogin(tx, userId);
    await this.audit.done(tx, 'USER_LOGIN', principal, client.address);
    const mfaSetupRequired = demands.mfaRequired && !principal.mfaEnabled;
    return this.signedIn(tx, principal, mfaSetupRequired, progress);
  }

  /** The first tokens of somebody to whom nothing else is asked. */
  async signedIn(
    tx: Tx,
    principal: Principal,
    mfaSetupRequired: boolean,
    { client, deviceToken }: Pick<SignInProgress, 'client' | 'deviceToken'>,
  ): Promise<SignInOutcome> {
    const pair = await this.tokens.start(tx, principal, mfaSetupRequired, client);
    const device = await this.devices.remember(tx, principal, deviceToken);
    return { step: 'signed-in', pair, mfaSetupRequired, deviceToken: device };
  }

  /** What a password-change token of `goOn` says. @returns null when it is none, or ran out */
  passwordChange(token: string): Promise<{ readonly id: string; readonly mfaPassed: boolean } | null> {
    return this.steps.verify('password-change', token);
  }

  private async askForPassword(
    tx: Tx,
    { userId, organizationId }: Principal,
    mfaPassed: boolean,
  ): Promise<SignInOutcome> {
    const { plainText: id, hash: tokenHash } = newOpaqueToken();
    await this.accountTokens.create(tx, {
      organizationId,
      userId,
      purpose: 'PASSWORD_CHANGE',
      tokenHash,
      ttlSeconds: PASSWORD_CHANGE_SECONDS,
    });
    const claims = { userId, organizationId, id, mfaPassed };
    return {
      step: 'password-change',
      token: await this.steps.issue('password-change', claims, PASSWORD_CHANGE_SECONDS),
    };
  }
}

export const wrongCredentials = (): ApiError => unauthorized('The e-mail address or the password is wrong');
