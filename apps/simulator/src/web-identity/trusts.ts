import type { JSONWebKeySet } from 'jose';

export const TRUSTING = ['AWS', 'GCP', 'AZURE'] as const;
export type Trusting = (typeof TRUSTING)[number];

/** What a cloud's account trusts: tokens of an issuer for an audience, with one subject. */
export interface Trust {
  readonly provider: Trusting;
  readonly issuer: string;
  readonly audience: string;
  /** null: a trust that forgot the condition on the subject */
  readonly subject: string | null;
  /** keys uploaded as a file, which only Google Cloud takes: the issuer is not asked for them. null: it is */
  readonly jwks: JSONWebKeySet | null;
}

/** The pool and provider of the simulated Google project. */
export const WORKLOAD_PROVIDER =
  'projects/123456789012/locations/global/workloadIdentityPools/drawbridge/providers/main';

/** What each cloud's documentation names as the audience. */
export const AUDIENCES: Readonly<Record<Trusting, string>> = {
  AWS: 'sts.amazonaws.com',
  GCP: `https://iam.googleapis.com/${WORKLOAD_PROVIDER}`,
  AZURE: 'api://AzureADTokenExchange',
};

/** The issuers that the simulated accounts trust, until a reset. */
export class Trusts {
  private trusts: Trust[] = [];

  /** Replaces the trust of the same account and issuer: it has one condition. */
  set(trust: Trust): void {
    this.trusts = [
      ...this.trusts.filter(({ provider, issuer }) => provider !== trust.provider || issuer !== trust.issuer),
      trust,
    ];
  }

  list(): readonly Trust[] {
    return this.trusts;
  }

  of(provider: Trusting, issuer: string): Trust | null {
    return this.trusts.find((trust) => trust.provider === provider && trust.issuer === issuer) ?? null;
  }

  clear(): void {
    this.trusts = [];
  }
}
