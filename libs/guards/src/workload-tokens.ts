import { Injectable } from '@nestjs/common';
import type { JwtService } from '@nestjs/jwt';
import type { IssuedToken } from './access-tokens';
import { GuardSettings } from './guard-settings';
import { holderOf, isUuid, signer, type TokenHolder } from './signed-tokens';

const WORKLOAD = 'workload';
const MAX_SECONDS = 900;

/** The trusted claims of a workload token: the service user and the trust. Scopes are read from the database. */
export interface WorkloadClaims extends TokenHolder {
  readonly trustId: string;
  /** of the trust when the token was issued: the token is invalid with any other */
  readonly revision: number;
}

/** @returns null when the payload is not that of a workload token */
export function readWorkloadClaims(payload: Record<string, unknown>): WorkloadClaims | null {
  const holder = holderOf(payload, [WORKLOAD]);
  const { tid, rev } = payload;
  if (!holder || !isUuid(tid) || typeof rev !== 'number' || !Number.isSafeInteger(rev)) return null;
  return { ...holder, trustId: tid, revision: rev };
}

/** Signs access tokens of CI jobs, which the bearer strategy reads. */
@Injectable()
export class WorkloadTokens {
  private readonly jwt: JwtService;

  constructor(private readonly settings: GuardSettings) {
    this.jwt = signer(settings);
  }

  /** @returns a token for at most 900 seconds. It is not refreshed. */
  async issue({ userId, organizationId, trustId, revision }: WorkloadClaims): Promise<IssuedToken> {
    const expiresIn = Math.min(MAX_SECONDS, this.settings.accessTokenTtlSeconds);
    const claims = { typ: WORKLOAD, sub: userId, org: organizationId, tid: trustId, rev: revision };
    return { accessToken: await this.jwt.signAsync(claims, { expiresIn }), expiresIn };
  }
}
