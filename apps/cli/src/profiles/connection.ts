import {
  apiKey,
  createApi,
  type Credential,
  isUnprotected,
  sendingFetch,
  type SendingOptions,
  type Server,
} from '#client';
import { CommandFailure, EXIT, usageFailure } from '../exit-codes';
import type { Output } from '../output';
import { ConfigFile, type Profile } from './config-file';
import { idTokenCredential } from './id-token';
import { serverUrl } from './server-url';
import { SignedIn } from './signed-in';

const DEFAULT_PROFILE = 'default';

/** Pauses that are shorter go unmentioned. */
const MENTIONED_PAUSE_SECONDS = 2;

export interface ConnectionOptions {
  /** --profile, else DRAWBRIDGE_PROFILE, else `default` */
  readonly profile?: string | undefined;
}

export interface Connection extends Server {
  readonly credential: Credential;
  readonly usesKey: boolean;
  /** sends any request as this caller */
  readonly fetch: (request: Request) => Promise<Response>;
}

export const profileName = ({ profile }: ConnectionOptions): string =>
  profile ?? (process.env['DRAWBRIDGE_PROFILE'] || DEFAULT_PROFILE);

/** The address of the server: DRAWBRIDGE_URL, else the profile's. @throws CommandFailure when there is none */
export function serverOf(options: ConnectionOptions): string {
  const given = process.env['DRAWBRIDGE_URL'];
  if (given) return serverUrl(given, 'DRAWBRIDGE_URL');
  const name = profileName(options);
  const profile = new ConfigFile(process.env).profile(name);
  if (profile) return serverUrl(profile.url, `The url of profile "${name}"`);
  const isDefault = name === DEFAULT_PROFILE;
  throw new CommandFailure(
    isDefault ? EXIT.denied : EXIT.usage,
    isDefault ? 'You are not signed in, and no server is known' : `There is no profile "${name}"`,
    'drawbridge login --url https://drawbridge.example.com, or set DRAWBRIDGE_URL and DRAWBRIDGE_API_KEY',
  );
}

/** The server and who asks. DRAWBRIDGE_URL, and DRAWBRIDGE_API_KEY or DRAWBRIDGE_ID_TOKEN come before the profile. @throws CommandFailure */
export function connect(
  options: ConnectionOptions,
  output: Output,
  patience: Pick<SendingOptions, 'patienceMs' | 'isClosing'> = {},
): Connection {
  const url = serverOf(options);
  const key = usableKey(process.env['DRAWBRIDGE_API_KEY'], 'DRAWBRIDGE_API_KEY');
  const job = jobCredential(url, key !== null);
  const name = profileName(options);
  const file = new ConfigFile(process.env);
  const profile = key || job ? null : file.profile(name);
  const credential = job ?? (key ? apiKey(key) : credentialOf(file, name, profile, url));
  const onRetry = (reason: string, seconds: number): void => {
    if (seconds >= MENTIONED_PAUSE_SECONDS) {
      output.note(`${reason.replace(/: try again.*$/, '')}: trying again in ${seconds} s`);
    }
  };
  // not refused: in a network of one's own it may be meant
  if (isUnprotected(url)) output.note(`${url} is not https: what is sent there can be read on the way`);
  const onWait = <T>(server: string, answer: Promise<T>): Promise<T> =>
    output.mentionWait(`for ${server} to answer`, answer);
  const sending = { credential, onRetry, onWait, ...patience };
  const usesKey = key !== null || profile?.apiKey !== undefined;
  return {
    url,
    api: createApi({ url, ...sending }),
    onRetry,
    credential,
    usesKey,
    fetch: sendingFetch(sending),
  };
}

/** @returns null: none is given. @throws CommandFailure that does not repeat it */
export function usableKey(given: string | undefined, where: string): string | null {
  const key = given?.trim();
  if (!key) return null;
  if (/^[\x21-\x7e]{1,500}$/.test(key)) return key;
  throw usageFailure(`${where} is no API key: keys are one line of letters and digits`);
}

/** The credential of a CI job that has an ID token; null without. @throws CommandFailure when it has an API key too */
function jobCredential(url: string, hasKey: boolean): Credential | null {
  const { DRAWBRIDGE_ID_TOKEN: idToken, DRAWBRIDGE_TRUST: trust = '' } = process.env;
  if (!idToken) return null;
  // the action and the Terraform provider take an audience, with # and an id where several trusts fit
  const trustId = trust.startsWith('http') ? trust.split('#')[1] : trust;
  if (!hasKey) return idTokenCredential(url, idToken.trim(), trustId || null);
  throw usageFailure(
    'DRAWBRIDGE_API_KEY and DRAWBRIDGE_ID_TOKEN are both set',
    'unset DRAWBRIDGE_API_KEY: a job with an ID token needs no stored key',
  );
}

/** After a logout a profile is the address of its server alone. */
export const isSignedIn = (profile: Profile | null): profile is Profile =>
  (profile?.apiKey ?? profile?.tokens) !== undefined;

/** A profile's secret is sent to the profile's own server only. */
function credentialOf(file: ConfigFile, name: string, profile: Profile | null, url: string): Credential {
  if (isSignedIn(profile) && serverUrl(profile.url, `The url of profile "${name}"`) !== url) {
    throw new CommandFailure(
      EXIT.denied,
      `DRAWBRIDGE_URL is ${url}, and profile "${name}" is signed in at ${profile.url}`,
      `set DRAWBRIDGE_API_KEY too, or sign in there: drawbridge login --url ${url} --profile NAME`,
    );
  }
  if (profile?.apiKey !== undefined) return apiKey(profile.apiKey);
  if (profile?.tokens) return new SignedIn(file, name, url);
  throw new CommandFailure(
    EXIT.denied,
    'You are not signed in',
    'drawbridge login, or set DRAWBRIDGE_API_KEY; in CI DRAWBRIDGE_ID_TOKEN will do',
  );
}
