import type { SignInRow, UserProfileRow } from '#tenant-store';
import type { Principal } from '#guards';
import type { LoginAnswerDto, RefreshAnswerDto, SignedInUserDto } from './dto/login-answer.dto';
import type { MeDto } from './dto/me.dto';
import type { SignInDto } from './dto/sign-in.dto';
import type { SignInOutcome } from './sign-in.service';
import type { TokenPair } from './token.service';

const toUser = (principal: Principal): SignedInUserDto => ({
  id: principal.userId,
  email: principal.email,
  name: principal.name,
  isOrgAdmin: principal.isOrgAdmin,
  organizationId: principal.organizationId,
  organizationName: principal.organizationName,
  organizationSlug: principal.organizationSlug,
  subscriptionTier: principal.tier,
  mfaEnabled: principal.mfaEnabled,
});

const signedIn = ({ accessToken, refreshToken, expiresIn, principal }: TokenPair) =>
  ({
    accessToken,
    refreshToken,
    tokenType: 'Bearer',
    expiresIn,
    user: toUser(principal),
  }) satisfies Omit<RefreshAnswerDto, 'mfaSetupRequired'>;

export const toRefreshAnswer = (pair: TokenPair): RefreshAnswerDto => ({
  ...signedIn(pair),
  mfaSetupRequired: pair.mfaSetupOnly,
});

const EMPTY_ANSWER = {
  mfaRequired: false,
  mfaChallengeToken: null,
  mfaChallengeExpiresIn: null,
  mfaSetupRequired: false,
  passwordExpired: false,
  passwordChangeToken: null,
  accessToken: null,
  refreshToken: null,
  tokenType: null,
  expiresIn: null,
  deviceToken: null,
  user: null,
} satisfies LoginAnswerDto;

export function toLoginAnswer(outcome: SignInOutcome): LoginAnswerDto {
  switch (outcome.step) {
    case 'mfa-challenge': {
      const { token, expiresIn } = outcome;
      return {
        ...EMPTY_ANSWER,
        mfaRequired: true,
        mfaChallengeToken: token,
        mfaChallengeExpiresIn: expiresIn,
      };
    }
    case 'password-change':
      return { ...EMPTY_ANSWER, passwordExpired: true, passwordChangeToken: outcome.token };
    case 'signed-in': {
      const { pair, mfaSetupRequired, deviceToken } = outcome;
      return { ...EMPTY_ANSWER, mfaSetupRequired, deviceToken, ...signedIn(pair) };
    }
  }
}

export const toSignIn = (row: SignInRow, { signIn }: Principal): SignInDto => ({
  ...row,
  current: row.id === signIn?.id,
});

export const toMe = (principal: Principal, profile: UserProfileRow, defaultSessionHours: number): MeDto => ({
  id: principal.userId,
  email: principal.email,
  name: principal.name,
  isOrgAdmin: principal.isOrgAdmin,
  platformRole: principal.platformRole,
  isActive: true,
  lockdown: principal.lockdown,
  mfaEnabled: principal.mfaEnabled,
  ...profile,
  defaultSessionHours,
  organization: {
    id: principal.organizationId,
    name: principal.organizationName,
    slug: principal.organizationSlug,
    subscriptionTier: principal.tier,
    suspended: principal.suspended,
    requireDetectedAddress: principal.requireDetectedAddress,
  },
});
