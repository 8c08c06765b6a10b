import type { DriverCredential } from '#drivers';
import { identityTokens } from '../builders/sso/federated-identity';
import { newKey, OidcIssuer } from '../harness/issuers/oidc-issuer';
import type { DriverBench } from './driver-bench';
import type { SimulatedCloud } from './simulated-cloud';

/** A credential type that holds no secret. */
export interface FederatedType {
  readonly credentialType: string;
  readonly data: Readonly<Record<string, string>>;
  /** fields that the cloud does not know */
  readonly unknown: Readonly<Record<string, string>>;
  /** the operation of the simulated cloud that exchanges tokens */
  readonly exchange: string;
}

/** A bench whose credentials are trusts of the simulated cloud in an issuer: the same cloud, the same targets. */
export async function federatedBench(
  bench: DriverBench,
  cloud: SimulatedCloud,
  { credentialType, data, unknown, exchange }: FederatedType,
): Promise<DriverBench> {
  const issuer = await OidcIssuer.start();
  const stranger = await newKey('RS256', 'rsa');
  const identity = identityTokens(issuer, 'conformance', 'one');
  const credential: DriverCredential = { credentialType, data, externalId: null, identity };
  const trust = (): Promise<void> => cloud.trust(issuer.url, identity.subject);
  await trust();
  return {
    ...bench,
    target: (number) => ({ ...bench.target(number), credential }),
    missingTarget: () => ({ ...bench.missingTarget(), credential }),
    withWrongSecret: (target) => ({
      ...target,
      credential: { ...credential, identity: identityTokens(issuer, 'conformance', 'one', stranger) },
    }),
    unknownCredential: () => ({ ...credential, data: { ...data, ...unknown } }),
    tokens: { ...bench.tokens!, target: (number) => ({ ...bench.tokens!.target(number), credential }) },
    trustAnySubject: () => cloud.trust(issuer.url),
    injectCheckFault: (fault, options) => cloud.injectOperationFault(exchange, fault, options),
    reset: async () => {
      await bench.reset();
      await trust();
    },
    close: async () => {
      await bench.close();
      await issuer.stop();
    },
  };
}
