import { createHash, randomBytes } from 'node:crypto';
import { bodyOf, createApi, type Api, type Schemas } from '#client';
import { usageFailure } from '../exit-codes';
import type { Output } from '../output';
import type { Profile } from '../profiles/config-file';
import { pasted } from '../terminal/pasted';
import { ask } from '../terminal/prompts';
import { codeFromBrowser, hasBrowser } from './loopback';
import { finishSignIn, orFix, type LoginOptions } from './sign-in-steps';

/** Signs in at an issuer of the organization, in a browser: here, or wherever the shown address is opened. */
export async function withCompany(
  url: string,
  options: LoginOptions,
  before: Profile | null,
  output: Output,
): Promise<Profile> {
  const organization = await organizationOf(options, before?.url === url ? before : null);
  const api = createApi({ url, credential: null });
  const provider = await chooseProvider(api, organization, options.provider);
  const again = `drawbridge login --url ${url} --sso ${pasted(organization)}`;
  // the code alone is worth nothing: only who has the verifier can use it
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const addressFor = (returnTo: string): string => {
    const query = new URLSearchParams({ provider: provider.id, challenge, returnTo });
    return `${url}/api/v1/auth/sso/${encodeURIComponent(organization)}?${query}`;
  };
  const device =
    before?.url === url && before.deviceToken !== undefined ? { deviceToken: before.deviceToken } : {};
  const isHere = options.browser !== false && hasBrowser(process.env);
  const code = isHere
    ? await codeFromBrowser(addressFor, output)
    : await askForCode(addressFor('code'), again);
  const completed = api.POST('/api/v1/auth/sso/complete', { body: { code, verifier, ...device } });
  const answer = await orFix(bodyOf(completed), again);
  return { url, organization, ...(await finishSignIn(url, answer, device, { again, output })) };
}

async function organizationOf({ sso, organization }: LoginOptions, before: Profile | null): Promise<string> {
  const given = (sso === true ? undefined : sso) ?? organization ?? before?.organization;
  const slug = given ?? (await ask('Organization, by its short name', { fix: 'add it: --sso example' }));
  return slug.toLowerCase();
}

type OfferedProvider = Schemas['OfferedProviderDto'];

async function chooseProvider(api: Api, slug: string, name: string | undefined): Promise<OfferedProvider> {
  const { items } = await bodyOf(
    api.GET('/api/v1/auth/sso/{slug}/providers', { params: { path: { slug } } }),
  );
  const fitting = name === undefined ? items : items.filter((one) => one.name === name);
  const [provider] = fitting;
  if (provider && fitting.length === 1) return provider;
  const names = items.map((one) => pasted(one.name)).join(', ');
  if (items.length > 0)
    throw usageFailure(`"${slug}" has several identity providers`, `add --provider: ${names}`);
  throw usageFailure(
    `"${slug}" has no company sign-in`,
    'check the short name of the organization, or sign in with a password: drawbridge login',
  );
}

/** The page at the end of the sign-in shows a code. */
async function askForCode(address: string, again: string): Promise<string> {
  process.stderr.write(`Open this address in any browser, and sign in there:\n\n${address}\n\n`);
  return ask('Code that is shown then', { fix: `sign in on a terminal: ${again}` });
}
