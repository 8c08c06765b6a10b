/** Names whose plain reading would be wrong or say nothing. */
const BODIES: Readonly<Record<string, string>> = {
  EmptyDto: 'An empty object',
  MessageDto: 'What was done, in words',
  MeDto: 'The signed-in user and the organization',
  HealthDto: 'The process is alive',
  ReadinessDto: 'What the service rests on, and whether it answers',
  LoginAnswerDto: 'Tokens, or what is still missing for them',
  RefreshAnswerDto: 'A new pair of tokens',
  SignInDto: 'Where the caller is signed in',
};

const PARAMETERS: Readonly<Record<string, string>> = {
  page: 'Which page, counted from 0',
  size: 'How many items a page has',
  resourceId: 'Only those of this resource',
  userId: 'Only those of this user',
  roleId: 'Only those with this role',
  status: 'Only those in this status; may be repeated',
  active: 'true: only those that are live',
  isService: 'Only service users (true) or only people (false)',
  isActive: 'Only active ones (true) or only inactive ones (false)',
  search: 'Only those whose name or e-mail address contains this',
  eventType: 'Only events of this type; may be repeated',
  actorEmail: 'Only what this person did',
  address: 'Only what concerns this address or range',
  at: 'The instant in question',
  format: 'How it is answered',
  from: 'Only from this time on',
  to: 'Only before this time',
  waitSeconds: 'How long to wait for a change before answering',
  agent: 'The name of the agent',
  version: 'The version of the state the caller has',
  dryRun: 'Whether to look only',
  instance: 'Which installation asks: the same across its restarts',
  adapter: 'The payment provider that reports',
  token: 'The token of the link',
  'Idempotency-Key': 'Sent again with the same body within 24 hours, it gets the first answer again',
};

const ABBREVIATIONS: Readonly<Record<string, string>> = { api: 'API', ip: 'IP', mfa: 'MFA', id: 'id' };

const reading = (words: readonly string[]): string =>
  words.map((word) => ABBREVIATIONS[word.toLowerCase()] ?? word.toLowerCase()).join(' ');

/** `StaticIpRuleDto`: "static IP rule" */
const nounOf = (schemaName: string): string =>
  reading(schemaName.replace(/Dto$/, '').match(/[A-Z][a-z0-9]*/g) ?? [schemaName]);

/** What an answer with this body is. */
export function bodyMessage(schemaName: string, status: number, isList: boolean): string {
  const own = BODIES[schemaName];
  if (own !== undefined) return own;
  const noun = nounOf(schemaName);
  if (isList) return `A list of ${pluralOf(noun)}`;
  return status === 201 && !noun.startsWith('created ') ? `The ${noun}, created` : `The ${noun}`;
}

/**
 * What a parameter means.
 * @param before the path's parts up to a path parameter; empty for the others
 * @returns undefined when nothing is known about its name
 */
export function parameterMessage(name: string, before: readonly string[]): string | undefined {
  if (before.length === 0) return PARAMETERS[name];
  const collection = before.toReversed().find((part) => !part.startsWith('{') && part !== 'admin');
  if (!/(^i|I)d$/.test(name) || collection === undefined) return PARAMETERS[name];
  return `Which ${reading(singularOf(collection).split('-'))}: its id`;
}

const singularOf = (plural: string): string =>
  plural.endsWith('ies') ? `${plural.slice(0, -3)}y` : plural.replace(/s$/, '');

const pluralOf = (noun: string): string =>
  /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : noun.endsWith('s') ? noun : `${noun}s`;
