import { addressesOf, definedFields } from '#client';
import { ChildNotStarted, runChild } from '../access/child';
import type { HeldAccess } from '../access/held-access';
import { effectNotes } from '../access/effect-notes';
import { endpointOf, reachOrFail, readyOrFail } from '../access/probe';
import { EXIT } from '../exit-codes';
import type { Call } from '../program';
import { Signals } from '../terminal/signals';
import { timeText } from '../terminal/times';
import { requestOf, whileHeld, type AccessOptions } from './access-options';
import { showPlan } from './plan';

export interface RunOptions extends AccessOptions {
  readonly probe?: string;
  readonly ready?: string;
  readonly readySeconds: number;
  /** outlive the process that started this one */
  readonly detached?: boolean;
  /** the command does not get the API key of this process's environment */
  readonly withoutKey?: boolean;
  readonly dryRun?: boolean;
}

/** Gives access while a command runs. @returns the command's exit code */
export async function run(call: Call<RunOptions>): Promise<number> {
  const { given, options, output } = call;
  if (options.dryRun) {
    const { resources, hours, grounds } = requestOf('run', options);
    const body = { ...resources, ...grounds, ...definedFields({ durationHours: hours }) };
    await showPlan(call.connection.api, body, output);
    return EXIT.ok;
  }
  const probe = options.probe === undefined ? null : endpointOf(options.probe, '--probe');
  const signals = new Signals();
  if (!options.detached) signals.watchParent();
  const running = whileHeld(call, 'run', signals, async (access) => {
    output.note(allowedNote(access));
    for (const note of effectNotes(access.sessions)) output.note(note);
    if (probe) {
      output.note(`waiting until ${options.probe} accepts connections`);
      (await reachOrFail(probe, signals.aborted)).destroy();
    }
    if (options.ready !== undefined) await readyOrFail(options.ready, options.readySeconds, signals.aborted);
    signals.aborted.throwIfAborted();
    const [program = '', ...args] = given;
    return runChild({ program, args, environment: environmentOf(access, options) }, signals);
  });
  return running.catch((error: unknown) => {
    if (!(error instanceof ChildNotStarted)) throw error;
    output.note(error.message);
    return error.code;
  });
}

function allowedNote({ sessions, expiresAt }: HeldAccess): string {
  const addresses = sessions.flatMap(({ session }) => addressesOf(session));
  return `${addresses.join(', ')} may connect until the command ends, at most until ${timeText(expiresAt)}`;
}

/** The caller's own, with the id of the session. No secret is added: neither the profile's nor the session's. */
function environmentOf(access: HeldAccess, { withoutKey }: RunOptions): NodeJS.ProcessEnv {
  // exchanged, an ID token is worthless
  const { DRAWBRIDGE_API_KEY: key, DRAWBRIDGE_ID_TOKEN: _, ...rest } = process.env;
  const DRAWBRIDGE_SESSION_ID = access.sessions.map(({ session }) => session.id).join(',');
  return {
    ...rest,
    ...(key === undefined || withoutKey ? {} : { DRAWBRIDGE_API_KEY: key }),
    DRAWBRIDGE_SESSION_ID,
  };
}
