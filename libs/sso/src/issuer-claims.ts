import { isEmail } from 'class-validator';
import { emailForm, hiddenCharacters } from '#rules';
import { groupsIn, groupsOf } from './group-claims';
import { IssuerFailure } from './issuer-failure';

/** What an issuer says about a person. */
export interface IssuerClaims {
  readonly subject: string;
  /** in the form by which accounts are distinguished; null: it says none */
  readonly email: string | null;
  readonly emailVerified: boolean;
  /** null: it shows no name */
  readonly name: string | null;
  /** by which its administrators know the person; nothing is decided by it. null: it shows none */
  readonly username: string | null;
  /** null: groups are not used, or it is not known which */
  readonly groups: readonly string[] | null;
  /** what could not be read, for administrators */
  readonly problem: string | null;
  /** the person has passed a second factor there */
  readonly secondFactorProven: boolean;
}

type Document = Readonly<Record<string, unknown>>;

const MAX_SUBJECT = 255;
const MAX_EMAIL = 254;
const MAX_NAME = 200;

/** RFC 8176, and what issuers say besides. */
const STRONG_METHODS = ['mfa', 'mca', 'otp', 'hwk', 'swk', 'sc', 'fido', 'fido2', 'webauthn'];
const STRONG_CLASSES = [
  'phr',
  'phrh',
  'https://refeds.org/profile/mfa',
  'http://schemas.openid.net/pape/policies/2007/06/multi-factor',
  'urn:okta:loa:2fa:any',
];

/**
 * @param idToken its verified claims; null: a refresh without one
 * @param userinfo null: not asked, or not readable
 * @param missing why not; null: it was not asked
 * @throws IssuerFailure for a subject or an e-mail address that cannot be stored
 */
export function issuerClaims(
  subject: string,
  idToken: Document | null,
  userinfo: Document | null,
  groupsClaim: string | null,
  missing: string | null = null,
): IssuerClaims {
  if (subject === '' || subject.length > MAX_SUBJECT || hiddenCharacters(subject).length > 0)
    throw new IssuerFailure('invalid', 'its subject is not a text of 1 to 255 characters');
  const documents = [idToken, userinfo].filter((document) => document !== null);
  const withEmail =
    documents.find(isEmailVerified) ?? documents.find((document) => emailOf(document) !== null);
  // of a refresh that says nothing about the person
  const isUnknown = groupsClaim === null || documents.length === 0;
  const { groups, problem } = isUnknown
    ? { groups: null, problem: null }
    : groupsOf(documents, groupsClaim, missing);
  return {
    subject,
    email: withEmail ? emailOf(withEmail) : null,
    emailVerified: withEmail !== undefined && isEmailVerified(withEmail),
    name: shown(documents, ['name']),
    username: shown(documents, ['preferred_username', 'upn', 'unique_name']),
    groups,
    problem: problem ?? missing,
    secondFactorProven: idToken !== null && isSecondFactorProven(idToken),
  };
}

/** Whether an ID token alone says everything that is asked of an issuer. */
export const isComplete = (idToken: Document, groupsClaim: string | null): boolean =>
  isEmailVerified(idToken) && (groupsClaim === null || groupsIn(idToken, groupsClaim) !== null);

function emailOf({ email }: Document): string | null {
  if (typeof email !== 'string' || hiddenCharacters(email).length > 0) return null;
  const form = emailForm(email);
  return form.length <= MAX_EMAIL && isEmail(form) ? form : null;
}

/** `xms_edov`: Entra ID's word for an address whose domain its organization has proven. */
const isEmailVerified = (document: Document): boolean =>
  emailOf(document) !== null &&
  (isTrue(document['email_verified']) || isTrue(document['xms_edov']) || document['xms_edov'] === 1);

/** Some issuers write booleans as texts. */
const isTrue = (value: unknown): boolean => value === true || value === 'true' || value === '1';

const isLine = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && hiddenCharacters(value).length === 0;

/** The first of these claims that is a line of text. */
function shown(documents: readonly Document[], claims: readonly string[]): string | null {
  const values = documents.flatMap((document) => claims.map((claim) => document[claim]));
  return values.find(isLine)?.trim().slice(0, MAX_NAME).trim() ?? null;
}

const isSecondFactorProven = ({ amr, acr }: Document): boolean =>
  (Array.isArray(amr) && amr.some((method) => STRONG_METHODS.includes(method as string))) ||
  STRONG_CLASSES.includes(acr as string);
