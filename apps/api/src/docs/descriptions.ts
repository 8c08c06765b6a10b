/** Descriptions of bodies whose schema name does not yield a good one. */
const BODIES: Readonly<Record<string, string>> = {
  BulkResultsDto: 'What became of each',
  EmptyDto: 'An empty object',
  MessageDto: 'A confirmation',
  MeDto: 'The signed-in user and the organization',
  HealthDto: 'The process is alive',
  DiscoveryDto: 'The release, and where to read one’s addresses',
  ReadinessDto: 'The status of the service and its dependencies',
  LoginAnswerDto: 'Tokens, or the next step of the sign-in',
  RefreshAnswerDto: 'A new pair of tokens',
  SignInDto: 'The caller’s sign-ins',
  PasswordLinkUseDto: 'Whose link it is, and which passwords will do',
};

/** Of parameters without one of their own. */
const PARAMETERS: Readonly<Record<string, string>> = {
  resourceId: 'Only items of this resource',
  userId: 'Only items of this user',
  status: 'Only items with this status; may be repeated',
  search: 'A part of a name or another text of the item, in any case, or a whole id',
  sort: 'What the list is in order of; with a -, in descending order. Items without it come last',
  state: 'Only items in this state; may be repeated',
  provider: 'Only items of this provider; may be repeated',
  resourceType: 'Only resources of this type; may be repeated',
  credentialId: 'Only resources with this credential',
  credentialType: 'Only credentials of this type; may be repeated',
  account: 'An account, a subscription or a project, as the provider calls it',
  roleId: 'Only items with this role',
  due: 'Only what is (true) or is not (false) to be reviewed now',
  label: 'Only resources with this label, as key=value; repeated: with all of them',
  mfaEnabled: 'Only users with (true) or without (false) a second factor',
  isOrgAdmin: 'Only administrators (true) or only other users (false)',
  lockedDown: 'Only users with (true) or without (false) a lockdown of their own',
  approvals: 'Only roles that ask for so many approvals; may be repeated',
  contains: 'Only rules that let in this address',
  scope: 'Only keys with this scope; may be repeated: any of them',
  isService: 'Only service users (true) or only people (false)',
  isActive: 'Only active users (true) or only inactive users (false)',
  format: 'The format of the response',
  adapter: 'The payment provider that sends the event',
  file: 'The name of the file, as `GET /downloads` lists it',
};

const ABBREVIATIONS: Readonly<Record<string, string>> = { api: 'API', ip: 'IP', mfa: 'MFA', id: 'id' };

const toText = (words: readonly string[]): string =>
  words.map((word) => ABBREVIATIONS[word.toLowerCase()] ?? word.toLowerCase()).join(' ');

/** `StaticIpRuleDto`: "static IP rule" */
const nounOf = (schemaName: string): string =>
  toText(schemaName.replace(/Dto$/, '').match(/[A-Z][a-z0-9]*/g) ?? [schemaName]);

/** The description of a response with this body. */
export function bodyDescription(schemaName: string, status: number, isList: boolean): string {
  const own = BODIES[schemaName];
  if (own !== undefined) return own;
  const noun = nounOf(schemaName);
  if (isList) return `A list of ${pluralOf(noun)}`;
  return status === 201 && !noun.startsWith('created ') ? `The ${noun}, created` : `The ${noun}`;
}

/**
 * The description of a parameter.
 * @param before the path's segments before a path parameter; empty for other parameters
 * @returns undefined when the name is unknown
 */
export function parameterDescription(name: string, before: readonly string[]): string | undefined {
  if (before.length === 0) return PARAMETERS[name];
  const collection = before.toReversed().find((part) => !part.startsWith('{') && part !== 'admin');
  if (!/(^i|I)d$/.test(name) || collection === undefined) return PARAMETERS[name];
  return `Id of the ${toText(singularOf(collection).split('-'))}`;
}

const singularOf = (plural: string): string =>
  plural.endsWith('ies') ? `${plural.slice(0, -3)}y` : plural.replace(/s$/, '');

const pluralOf = (noun: string): string =>
  /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : noun.endsWith('s') ? noun : `${noun}s`;
