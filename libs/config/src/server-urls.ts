import { readFileSync } from 'node:fs';
import { X509Certificate } from 'node:crypto';
import { ValidateBy } from 'class-validator';

/** What is wrong with the value of a setting, after its name; null: nothing. */
type Problem = (value: string, settings: object) => string | null;

/** Property decorator: a text without a problem. */
export const without = (problem: Problem): PropertyDecorator =>
  ValidateBy({
    name: 'without',
    validator: {
      validate: (value, given) => typeof value === 'string' && problem(value, given!.object) === null,
      defaultMessage: (given) =>
        `${given!.property} ${problem(typeof given!.value === 'string' ? given!.value : '', given!.object)}`,
    },
  });

/** A password with one of these would be read as the end of the host. */
export const ENCODED = 'with / ? # @ : and % in user and password percent-encoded (%2F %3F %23 %40 %3A %25)';

const POSTGRES_URL = /^postgres(?:ql)?:\/\/[^\s/?#]*(?:\/[^\s/?#@]*)?(?:\?[^\s#@]*)?$/;
const POSTGRES_FORM = `must be the address of a PostgreSQL database, like postgres://user:password@host:5432/name, ${ENCODED}`;
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];
const SSL_FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/** Of `DATABASE_URL`. */
export function postgresUrlProblem(text: string): string | null {
  if (!POSTGRES_URL.test(text) || !URL.canParse(text)) return POSTGRES_FORM;
  const { searchParams: given } = new URL(text);
  if (!SSL_MODES.includes(given.get('sslmode') ?? 'disable'))
    return `must have one of ${SSL_MODES.join(', ')} as its sslmode`;
  const unreadable = SSL_FILES.find((name) => given.has(name) && textOf(given.get(name)!) === null);
  return unreadable === undefined ? null : `must name a file that this process can read as its ${unreadable}`;
}

/**
 * The driver verifies certificates with each of these modes, warns of that at length, and will not do so any more in its next
 * major version: the mode that is meant is written out.
 */
export function withVerification(url: string): string {
  if (!URL.canParse(url) || new URL(url).searchParams.has('uselibpqcompat')) return url;
  return url.replace(/(?<=[?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, 'verify-full');
}

const SMTP_URL = /^smtps?:\/\/[^\s/?#]+\/?(?:\?[^\s#@]*)?$/;
const SMTP_FORM = `must be the mail server, like smtp://user:password@host:587, or smtps://… where TLS begins at once, ${ENCODED}`;

/** Of `SMTP_URL`. */
export function smtpUrlProblem(text: string): string | null {
  if (!SMTP_URL.test(text) || !URL.canParse(text)) return SMTP_FORM;
  const { protocol, port, hostname } = new URL(text);
  if (hostname === '') return SMTP_FORM;
  if (protocol === 'smtp:' && port === '465')
    return 'must be smtps://… with port 465, where TLS begins at once';
  if (protocol === 'smtps:' && ['25', '587'].includes(port))
    return `must be smtp://… with port ${port}, where TLS begins with STARTTLS`;
  return null;
}

const SENDER = /^(?:(?<name>[^<>\p{Cc}]*)<(?<inner>[^<>]*)>|(?<bare>[^<>]*))$/u;
const ADDRESS = /^[^\s@,;:<>()[\]"\\]+@[^\s@,;:<>()[\]"\\]+$/;

/** One sender of mail. @returns null: the text is none */
export function mailSender(text: string): { readonly name: string; readonly address: string } | null {
  const { name = '', inner, bare } = SENDER.exec(text.trim())?.groups ?? {};
  const address = (inner ?? bare ?? '').trim();
  return ADDRESS.test(address) ? { name: name.trim().replace(/^"(.*)"$/, '$1'), address } : null;
}

/** Of `MAIL_FROM`. */
export const mailSenderProblem: Problem = (text) =>
  mailSender(text) === null
    ? 'must be the one address mail comes from, like Drawbridge <drawbridge@example.com>, that the mail server of SMTP_URL lets you use'
    : null;

/** Of `PUBLIC_URL` and the like. */
export const publicUrlProblem = (text: string): string | null =>
  /^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/.test(text) && URL.canParse(text)
    ? null
    : 'must be an http or https address without user, query and fragment';

/** Of `NODE_EXTRA_CA_CERTS`: Node.js warns of a file that it cannot use, and goes on. */
export const certificatesProblem: Problem = (path) => {
  const pem = textOf(path)?.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return pem.length > 0 && pem.every(isCertificate)
    ? null
    : 'must be a file that this process can read, with the certificates of authorities in PEM form';
};

function isCertificate(pem: string): boolean {
  try {
    return Boolean(new X509Certificate(pem));
  } catch {
    return false;
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** The message for listen addresses, after "HOST must be". */
export const LISTEN_ADDRESS_MESSAGE =
  'the IP address to listen on, like 127.0.0.1 (this host only) or :: (every address)';

/**
 * The form of `OIDC_ISSUER_URL`: what AWS, GCP and Entra accept, a port and http on loopback for simulated clouds only.
 */
export const ISSUER_URL =
  /^(https:\/\/[a-z0-9.-]+(\/[\w.~-]+)*|http:\/\/(localhost|127\.0\.0\.1)(:\d{1,5})?(\/[\w.~-]+)*)$/;
export const ISSUER_URL_MESSAGE =
  'an https address without port, query and slash at the end, like https://drawbridge.example.com/oidc';
/** In tokens, with an organization's id after it: AWS takes issuers of at most 255 characters. */
export const MAX_ISSUER_URL_LENGTH = 200;
