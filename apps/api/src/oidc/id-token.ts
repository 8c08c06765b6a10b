/** Longer than every known CI system's, with any custom claims. */
export const MAX_TOKEN_LENGTH = 16_384;
const MAX_DEPTH = 8;
const MAX_MEMBERS = 200;

type JsonObject = Readonly<Record<string, unknown>>;

/** An ID token whose form is right. Nothing in it is verified. */
export interface ParsedIdToken {
  readonly text: string;
  readonly header: JsonObject;
  readonly claims: JsonObject;
}

/** Header parameters that name or contain a key, or change how the token is read. None is needed; each would be the sender's choice. */
const REFUSED_PARAMETERS: readonly string[] = [
  'jwk',
  'jku',
  'x5u',
  'x5c',
  'crit',
  'b64',
  'zip',
  'cty',
  'enc',
];
/** Tokens of other kinds that the same issuer may sign. */
const TYPE = /^(?:application\/)?jwt$/i;

/** @returns the token, or why it is not a signed JWT in compact form */
export function parseIdToken(text: string): ParsedIdToken | string {
  if (text.length > MAX_TOKEN_LENGTH) return `longer than ${MAX_TOKEN_LENGTH} characters`;
  const parts = text.split('.');
  if (parts.length !== 3) return 'not three parts with dots between';
  if (!parts.every((part) => /^[\w-]+$/.test(part))) return 'a part is empty or not base64url';
  const header = objectOf(parts[0]!);
  if (typeof header === 'string') return `the header ${header}`;
  const claims = objectOf(parts[1]!);
  if (typeof claims === 'string') return `the payload ${claims}`;
  const refused = REFUSED_PARAMETERS.find((name) => Object.hasOwn(header, name));
  if (refused !== undefined) return `the header has ${refused}`;
  const { typ } = header;
  if (typ !== undefined && !(typeof typ === 'string' && TYPE.test(typ))) return 'the header’s typ is not JWT';
  return { text, header, claims };
}

/** @returns the object, or why there is none: follows the name of the part */
function objectOf(part: string): JsonObject | string {
  const bytes = Buffer.from(part, 'base64url');
  // other spellings of the same bytes
  if (bytes.toString('base64url') !== part) return 'is not canonical base64url';
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    return 'is not JSON in UTF-8';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'is not a JSON object';
  return structureFlaw(text) ?? { ...value };
}

const STRING_OR_BRACKET = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g;

/**
 * Parsers disagree on which of two members with the same name counts, so none may be there.
 * @param text well-formed JSON
 */
function structureFlaw(text: string): string | null {
  const open: (Set<string> | null)[] = [];
  let members = 0;
  let last = '';
  for (const [token] of text.matchAll(STRING_OR_BRACKET)) {
    if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : null);
      if (open.length > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
    } else if (token === '}' || token === ']') open.pop();
    else if (token === ':') {
      const name = JSON.parse(last) as string;
      const names = open.at(-1)!;
      if (names.has(name)) return `has ${JSON.stringify(name.slice(0, 100))} twice`;
      names.add(name);
      members += 1;
      if (members > MAX_MEMBERS) return `has more than ${MAX_MEMBERS} members`;
    }
    last = token;
  }
  return null;
}
