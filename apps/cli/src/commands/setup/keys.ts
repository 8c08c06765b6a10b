import { Option, type Command } from 'commander';
import { bodyOf, serverTime, type Schemas } from '#client';
import { define, group, listOption, numberOption, type Call } from '../../program';
import { timeText } from '../../terminal/times';
import { scopeOption, scopesOf } from './options';
import { idOf, listing, removing, short } from './things';

const DAY_MS = 86_400_000;

export function registerKeys(program: Command): void {
  const keys = group(program, 'keys', 'API keys (administrators)');
  define(keys, {
    ...listing('key', {
      name: 'apiKeys',
      columns: {
        name: ({ name }) => name,
        key: ({ keyPrefix }) => `${keyPrefix}…`,
        scopes: ({ scopes }) => scopes.join(', '),
        'acts for': ({ userEmail }) => userEmail,
        ends: ({ isRevoked, expiresAt }) => (isRevoked ? 'revoked' : timeText(expiresAt)),
        'last used': ({ lastUsedAt }) => timeText(lastUsedAt),
        id: short,
      },
    }),
    examples: ['keys'],
  });
  define(keys, {
    usage: 'create <name>',
    about: 'make one, and print it once',
    examples: [
      'keys create pipeline --user pipeline',
      'keys create db-host-1 --scope agent:connect --agent db-host-1',
    ],
    options: [
      scopeOption(),
      new Option('--user <e-mail|name|id>', 'whom it acts for: a service user, for a program (default: you)'),
      listOption('--agent <host>', 'with agent:connect: a host it may serve'),
      numberOption('--expires <days>', 'when it ends (default: never)', 3650),
    ],
    run: create,
  });
  define(keys, {
    ...removing('key', 'make one useless'),
    usage: 'revoke <name|id>',
    examples: ['keys revoke pipeline'],
  });
}

interface CreateOptions {
  readonly scope: readonly string[];
  readonly user?: string;
  readonly agent: readonly string[];
  /** days */
  readonly expires?: number;
}

/** Prints the key alone, so that it can be piped into a secret store. It is shown once. */
async function create({ api, connection, name, options, output }: Call<CreateOptions>): Promise<void> {
  const { agent, expires, scope, user } = options;
  const body = {
    name,
    // the server names the scopes there are
    scopes: scopesOf(scope) as Schemas['CreateApiKeyDto']['scopes'],
    ...(user === undefined ? {} : { userId: await idOf(api, 'user', user) }),
    ...(agent.length === 0 ? {} : { agents: [...agent] }),
    ...(expires === undefined
      ? {}
      : { expiresAt: new Date((await serverTime(connection.url)) + expires * DAY_MS).toISOString() }),
  };
  const key = await bodyOf(api.POST('/api/v1/api-keys', { body }));
  output.note(
    `this is shown once; it acts for ${key.userEmail} and ${key.expiresAt ? `ends ${timeText(key.expiresAt)}` : 'has no end'}`,
  );
  output.result(key, key.plainTextKey);
}
