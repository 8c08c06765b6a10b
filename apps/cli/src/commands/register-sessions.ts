import { Option, type Command } from 'commander';
import { CHOICES } from '#client';
import {
  breakGlassOption,
  type Call,
  define,
  groundsOptions,
  hoursOption,
  numberOption,
  resourceOption,
  timeoutOption,
} from '../program';
import { dryRunOption } from './plan';
import type { ExtendOptions, ListOptions, StartOptions, StopOptions } from './sessions';

const noWaitOption = (): Option => new Option('--no-wait', 'do not wait for the rules');

/** Sessions that last until they are stopped. */
export function registerSessionCommands(program: Command): void {
  define(program, {
    usage: 'start',
    about: 'start a session, and wait until its rules are applied',
    examples: [
      'start --resource database --hours 2',
      'start --ipv4 203.0.113.10 --no-wait',
      'start --resource database --dry-run',
    ],
    options: [
      resourceOption(),
      hoursOption(),
      ...groundsOptions(),
      breakGlassOption(),
      new Option('--ipv4 <address>', 'allow this address (default: the observed ones)'),
      new Option('--ipv6 <address>', 'allow this address'),
      new Option('--holder <name>', 'tells parallel sessions behind one address apart (default: random)'),
      timeoutOption(),
      noWaitOption(),
      dryRunOption(),
    ],
    run: async (call: Call<StartOptions>) => (await import('./sessions.js')).start(call),
  });
  define(program, {
    usage: 'stop [session...]',
    about:
      'stop sessions (administrators: of anybody), and wait until their rules are gone; without an id, your only one',
    examples: ['stop', 'stop 3fa85f64', 'stop --all'],
    options: [new Option('--all', 'all of your live sessions'), timeoutOption(), noWaitOption()],
    run: async (call: Call<StopOptions>) => (await import('./sessions.js')).stop(call),
  });
  define(program, {
    usage: 'extend <session>',
    about: 'make a session last longer',
    examples: ['extend 3fa85f64 --hours 2'],
    options: [numberOption('--hours <n>', 'hours to add', 24).default(1)],
    run: async (call: Call<ExtendOptions>) => (await import('./sessions.js')).extend(call),
  });
  define(program, {
    usage: 'status [session]',
    about: 'show a session, or your live ones, with their rules',
    examples: ['status', 'status 3fa85f64'],
    run: async (call: Call) => (await import('./sessions.js')).showStatus(call),
  });
  define(program, {
    usage: 'list',
    about: 'list your live sessions',
    examples: ['list', 'list --all --resource database', 'list --everybody'],
    options: [
      new Option('--all', 'ended ones too'),
      new Option('--everybody', 'of the whole organization (administrators)'),
      new Option('--status <status...>', 'only these').choices(CHOICES.SessionStatus),
      resourceOption('only sessions of this resource', 'any'),
    ],
    run: async (call: Call<ListOptions>) => (await import('./sessions.js')).list(call),
  });
}
