import { Injectable } from '@nestjs/common';
import type { IssuedToken } from './access-tokens';
import { GuardSettings } from './guard-settings';
import type { WorkloadClaims } from './principal';
import { holderOf, isUuid, signer } from './signed-tokens';

const WORKLOAD = 'workload';
const MAX_SECONDS = 900;

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
  private readonly jwt = signer(this.settings);

  constructor(private readonly settings: GuardSettings) {}

  /** @returns a token for at most 900 seconds. It is not refreshed. */
  async issue({ userId, organizationId, trustId, revision }: WorkloadClaims): Promise<IssuedToken> {
    const expiresIn = Math.min(MAX_SECONDS, this.settings.accessTokenTtlSeconds);
    const claims = { typ: WORKLOAD, sub: userId, org: organizationId, tid: trustId, rev: revision };
    return { accessToken: await this.jwt.signAsync(claims, { expiresIn }), expiresIn };
  }
}
