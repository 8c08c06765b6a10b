import { Option, type Command } from 'commander';
import { bodyOf } from '#client';
import { define, group, type Call } from '../../program';
import { showsPlan, trialOption, trialQuery, type TrialOptions } from './change-plan';
import { idOf } from './things';

interface Of {
  /** left out: the organization */
  readonly user?: string;
}

interface DeclareOptions extends Of, TrialOptions {
  readonly reason: string;
  readonly staticRules?: boolean;
}

const userOption = (): Option =>
  new Option('--user <e-mail|name|id>', 'of this user alone (default: of the organization)');

export function registerLockdown(program: Command): void {
  const lockdown = group(program, 'lockdown', 'end all access at once, and let none begin (administrators)');
  define(lockdown, {
    usage: 'declare',
    about: 'end all sessions, and refuse others until another administrator lifts it',
    isDefault: true,
    examples: [
      'lockdown --reason "A laptop was stolen: INC-12"',
      'lockdown --user ada@example.com --reason INC-12',
      'lockdown --reason INC-12 --dry-run',
    ],
    required: [new Option('--reason <text>', 'shown to everybody who is refused')],
    options: [
      userOption(),
      new Option('--static-rules', 'close static IP rules, too, until it is lifted').conflicts('user'),
      trialOption(),
    ],
    run: declare,
  });
  define(lockdown, {
    usage: 'lift',
    about: 'lift it: not by who declared it, unless there is no other administrator',
    examples: ['lockdown lift', 'lockdown lift --user ada@example.com'],
    options: [userOption()],
    run: lift,
  });
}

async function declare({ api, options, output }: Call<DeclareOptions>): Promise<void> {
  const { reason, staticRules = false, user } = options;
  const query = trialQuery(options);
  const ended = await bodyOf(
    user === undefined
      ? api.POST('/api/v1/organization/lockdown', { params: query, body: { reason, staticRules } })
      : api.POST('/api/v1/users/{id}/lockdown', {
          params: { ...(await pathOf(api, user)), ...query },
          body: { reason },
        }),
  );
  if (showsPlan(ended, output)) return;
  const rules = staticRules ? `, static IP rules closed: ${ended.staticIpRules}` : '';
  output.result(ended, `Locked down: ${whose(user)}. Sessions ended: ${ended.sessions}${rules}.`);
}

async function lift({ api, options: { user }, output }: Call<Of>): Promise<void> {
  if (user === undefined) await api.DELETE('/api/v1/organization/lockdown', {});
  else await api.DELETE('/api/v1/users/{id}/lockdown', { params: await pathOf(api, user) });
  output.result({}, `The lockdown is lifted: ${whose(user)}.`);
}

const pathOf = async (api: Call['api'], user: string): Promise<{ path: { id: string } }> => ({
  path: { id: await idOf(api, 'user', user) },
});

const whose = (user = 'the organization'): string => user;
