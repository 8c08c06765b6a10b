const ATTEMPT = 'drawbridge-company-sign-in';
const ORGANIZATION = 'drawbridge-organization';

interface Attempt {
  /** proves that this tab began the sign-in: an answer to one that another person began signs no user in */
  readonly verifier: string;
  /** the screen that was asked for */
  readonly next: string;
}

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** The short name of the organization that this browser signed in to last. */
export const rememberedOrganization = (): string => localStorage.getItem(ORGANIZATION) ?? '';

/** Leaves for the issuer of a provider. It comes back to `/sign-in/sso`. */
export async function leaveForIssuer(slug: string, provider: string, next: string): Promise<void> {
  if (!isSecureContext)
    throw new Error('Company sign-in needs an address that begins with https. Ask the operator for it.');
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  sessionStorage.setItem(ATTEMPT, JSON.stringify({ verifier, next } satisfies Attempt));
  localStorage.setItem(ORGANIZATION, slug);
  const challenge = base64url(new Uint8Array(digest));
  const query = new URLSearchParams({ provider, challenge, returnTo: 'console' });
  location.assign(`/api/v1/auth/sso/${encodeURIComponent(slug)}?${query}`);
}

/** What this tab began; once. */
export function takeAttempt(): Attempt | null {
  const kept = sessionStorage.getItem(ATTEMPT);
  sessionStorage.removeItem(ATTEMPT);
  return kept === null ? null : (JSON.parse(kept) as Attempt);
}

/** What the sign-in brought, out of the address, where nothing reads it afterwards. */
export function takeAnswer(): URLSearchParams {
  const answer = new URLSearchParams(location.hash.slice(1));
  history.replaceState(null, '', location.pathname);
  return answer;
}
