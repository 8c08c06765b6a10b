import { hiddenCharacters } from '#rules';

type Document = Readonly<Record<string, unknown>>;

/** The groups that an issuer names. */
export interface NamedGroups {
  /** null: it is not known whether there are any */
  readonly groups: readonly string[] | null;
  /** why, for administrators */
  readonly problem: string | null;
}

const TOO_MANY =
  'it names no groups of people who are in many: roles stay as they are. Let it send only the groups of this application';

const unreadable = (shape: string): string =>
  `its claim of groups is ${shape}, which cannot be read: roles stay as they are. Let it send a list of names`;

const DISTINGUISHED_NAME = /^(?:cn|ou|uid)=/i;

/**
 * Reads groups in the forms that issuers use. A person in no group often has no claim: then it is an empty list, but what is there
 * and cannot be read never is.
 * @param claim its name, or the way to it inside other claims, such as `realm_access.roles`
 * @param missing why not everything that the issuer says was read; null: it was
 */
export function groupsOf(
  documents: readonly Document[],
  claim: string,
  missing: string | null = null,
): NamedGroups {
  const found = documents.map((document) => groupsIn(document, claim)).filter((groups) => groups !== null);
  const named = found.find(({ groups }) => groups !== null) ?? found[0];
  return named ?? { groups: missing === null ? [] : null, problem: null };
}

/** @returns null: the document says nothing about groups */
export function groupsIn(document: Document, claim: string): NamedGroups | null {
  const value = valueAt(document, claim);
  if (value === BLOCKED) return refused('stated to be inside another one that has no claims');
  if (value !== undefined && value !== null) return readGroups(value);
  const isElsewhere = Object.keys(document['_claim_names'] ?? {}).some((name) => isOnWay(name, claim));
  const hasMany = document['hasgroups'] === true || document['hasgroups'] === 'true';
  return isElsewhere || hasMany ? { groups: null, problem: TOO_MANY } : null;
}

/** The way to a claim goes on where there are no claims. */
const BLOCKED = Symbol('blocked');

const isOnWay = (name: string, claim: string): boolean => claim === name || claim.startsWith(`${name}.`);

/** Names may have dots: each is tried as a whole first. @returns undefined: nothing is there */
function valueAt(value: unknown, path: string): unknown {
  if (value === undefined || value === null) return undefined;
  if (!isDocument(value)) return BLOCKED;
  if (Object.hasOwn(value, path)) return value[path];
  const found = Object.keys(value)
    .filter((name) => isOnWay(name, path))
    .map((name) => valueAt(value[name], path.slice(name.length + 1)));
  return (
    found.find((each) => each !== undefined && each !== BLOCKED) ?? found.find((each) => each === BLOCKED)
  );
}

/** No mapping has a name with hidden characters, which the database may not take. */
const read = (groups: readonly string[]): NamedGroups => ({
  groups: groups.filter((name) => hiddenCharacters(name).length === 0),
  problem: null,
});
const refused = (shape: string): NamedGroups => ({ groups: null, problem: unreadable(shape) });

function readGroups(value: unknown): NamedGroups {
  if (Array.isArray(value)) {
    const names = value.map(nameOf);
    return names.every((name) => name !== null)
      ? read(names)
      : refused('a list with other things than names');
  }
  // AD FS: a text when there is one
  if (typeof value === 'string') {
    const isOne = value.trim() !== '' && (DISTINGUISHED_NAME.test(value) || !/[,;\n]|^\s*[[{]/.test(value));
    return isOne ? read([value]) : refused('a text that may hold several');
  }
  if (!isDocument(value)) return refused(`a ${typeof value}`);
  const name = nameOf(value);
  if (name !== null) return read([name]);
  // Zitadel: an object by role, of objects by organization
  const roles = Object.entries(value);
  const isByRole = roles.length > 0 && roles.every(([, grants]) => isDocument(grants));
  return isByRole ? read(roles.map(([role]) => role)) : refused('an object');
}

function nameOf(value: unknown): string | null {
  const name = isDocument(value) ? value['name'] : value;
  return typeof name === 'string' ? name : null;
}

const isDocument = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
