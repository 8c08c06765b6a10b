import { bodyOf, everyPage, type Schemas } from '#client';
import { EXIT, type ExitCode } from '../exit-codes';
import { table, type Output } from '../output';
import { connect, type ConnectionOptions } from '../profiles/connection';

type Scope = Schemas['CreateApiKeyDto']['scopes'][number];

export async function listKeys(options: ConnectionOptions, output: Output): Promise<ExitCode> {
  const { api } = connect(options, output);
  const keys = await everyPage((query) => bodyOf(api.GET('/api/v1/api-keys', { params: { query } })));
  const rows = keys.map((key) => [
    key.id,
    key.name,
    `${key.keyPrefix}…`,
    key.scopes.join(', '),
    key.userEmail,
    key.isRevoked ? 'revoked' : (key.expiresAt ?? 'never'),
    key.lastUsedAt ?? 'never',
  ]);
  const headings = ['id', 'name', 'key', 'scopes', 'acts for', 'ends', 'last used'];
  output.result({ apiKeys: keys }, table(headings, rows) || 'No API key.');
  return EXIT.ok;
}

export interface CreateKeyOptions extends ConnectionOptions {
  readonly scope: readonly string[];
  readonly user?: string;
  /** days */
  readonly expires?: number;
}

const DAY_MS = 86_400_000;

/** Prints the key alone, so that it can be piped into a secret store. It is shown once. */
export async function createKey(name: string, options: CreateKeyOptions, output: Output): Promise<ExitCode> {
  const { api } = connect(options, output);
  const { expires, user } = options;
  const body = {
    name,
    // the server names the scopes there are
    scopes: [...options.scope] as Scope[],
    ...(user === undefined ? {} : { userId: user }),
    ...(expires === undefined ? {} : { expiresAt: new Date(Date.now() + expires * DAY_MS).toISOString() }),
  };
  const key = await bodyOf(api.POST('/api/v1/api-keys', { body }));
  output.note(`this is shown once; it acts for ${key.userEmail} and ends ${key.expiresAt ?? 'never'}`);
  output.result(key, key.plainTextKey);
  return EXIT.ok;
}

export async function revokeKey(id: string, options: ConnectionOptions, output: Output): Promise<ExitCode> {
  const { api } = connect(options, output);
  await api.DELETE('/api/v1/api-keys/{id}', { params: { path: { id } } });
  output.result({ id }, `${id} is revoked.`);
  return EXIT.ok;
}
