import { ApiFailure, exchangeIdToken, type Credential } from '#client';
import { CommandFailure, EXIT, usageFailure } from '../exit-codes';

const FIX =
  'an administrator finds the reason in the audit logs (OIDC_EXCHANGE_REFUSED); a token is accepted once, for ten minutes';

/** The credential of a CI job: its ID token, exchanged with the first request. @param trustId only where several fit */
export function idTokenCredential(url: string, idToken: string, trustId: string | null): Credential {
  let exchanged: Promise<Record<string, string>> | undefined;
  const exchange = async (): Promise<Record<string, string>> => {
    try {
      return { Authorization: `Bearer ${await exchangeIdToken(url, idToken, trustId)}` };
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      if (error.status === 400 && error.message.includes('trust')) {
        throw usageFailure(error.message, 'set DRAWBRIDGE_TRUST to the id of one of them');
      }
      if (error.status !== 401) throw error;
      throw new CommandFailure(EXIT.denied, 'The server refused DRAWBRIDGE_ID_TOKEN', FIX);
    }
  };
  return { headers: () => (exchanged ??= exchange()), renew: () => Promise.resolve(false) };
}
