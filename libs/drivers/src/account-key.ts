import type { Provider } from '#rules';
import { fingerprint } from './fingerprint';
import type { DriverCredential } from './provider-driver';

/**
 * The key of a write budget: what the provider limits, and the proof that a call has. A credential that names the account of
 * another tenant without its proof is denied by the provider, and spends a budget of its own until then.
 * @param limited what the provider's rate limit applies to
 */
export function accountKey(
  provider: Provider,
  limited: string,
  { data, externalId, identity }: DriverCredential,
): string {
  const proof = Object.entries(data).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `${provider}:${limited}:${fingerprint(...proof.flat(), externalId ?? '', identity?.issuer ?? '')}`;
}
