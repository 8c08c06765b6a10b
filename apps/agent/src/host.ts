import { dirname, join } from 'node:path';
import { unionOf } from '#rules';
import { desiredElements, enforcedRules } from './enforced-rules';
import { GuardFile, NOTHING_DECIDED, type GuardDecisions } from './guarding/guard-file';
import { alwaysAllowed, bounded } from './guarding/limits';
import type { Log } from './log';
import { ruleElements, trafficIn, type Elements } from './nft/elements';
import { Guard } from './nft/guard';
import { isTrafficSet, type Listing } from './nft/listing';
import type { Nft } from './nft/nft';
import type { AgentOptions } from './options';
import { StateFile, type PersistedState } from './state/persisted-state';
import { batterySeconds, bootId, runningMs } from './state/running-time';

/** What an agent keeps on its host. */
export interface Files {
  readonly state: StateFile;
  readonly guard: GuardFile;
}

/** A host, and what one run of the agent has to do there. */
export interface Host {
  readonly nft: Nft;
  readonly files: Files;
  readonly options: AgentOptions;
}

export const filesOf = ({ stateFile }: AgentOptions, log: Log): Files => ({
  state: new StateFile(
    stateFile,
    () => ({ bootId: bootId(), runningMs: runningMs(), batterySeconds: batterySeconds() }),
    (message) => log.info(message),
  ),
  guard: new GuardFile(join(dirname(stateFile), 'guard.json'), (message) => log.info(message)),
});

/** What the host knows before it hears of its server. */
export interface KnownBefore {
  readonly persisted: PersistedState;
  /** null: no guard was ever known here, and none was given */
  readonly decisions: GuardDecisions | null;
}

/**
 * The guard survives damage of any file, and of all while the kernel guards: without a readable guard file, everything
 * counts that its copy, the state's file or the table names, and with none of these the installation's `--guard`.
 */
export function knownBefore({ options: { guard }, files }: Host, listing: Listing | null): KnownBefore {
  const persisted = files.state.read();
  const decisions = files.guard.read();
  if (files.guard.readCurrent() !== null) return { persisted, decisions };
  const guarded = unionOf(
    decisions?.guarded ?? [],
    persisted.state?.guarded ?? [],
    listing ? trafficIn(listing.secondsLeft.keys()) : [],
  );
  const isKnown = decisions !== null || persisted.state !== null || guarded.length > 0;
  if (!isKnown && guard.length === 0) return { persisted, decisions: null };
  return { persisted, decisions: { ...(decisions ?? NOTHING_DECIDED), guarded: isKnown ? guarded : guard } };
}

/**
 * Loads the guard and the rules of the persisted state before the server is contacted. When the table exists, rules that
 * are missing from it are not added back; without a state, what it lets in stays. While nothing is known, nothing is loaded.
 * @returns with what the table lets in, of which no state is known
 */
export async function restoreGuard(
  { nft, options }: Host,
  { persisted, decisions }: KnownBefore,
  listing: Listing | null,
): Promise<{ guard: Guard; carried: Elements }> {
  const { limits } = options;
  const guard = new Guard(nft, runningMs, options);
  const carried = listing && !persisted.state ? addressElements(listing) : new Map<string, number>();
  if (decisions === null) return { guard, carried };
  const { rules = [], heardAt = 0 } = persisted.state ?? {};
  const { allowed } = bounded(limits, decisions.guarded);
  const own = ruleElements(alwaysAllowed(limits), runningMs()).elements;
  const desired = desiredElements(allowed, enforcedRules(rules, limits, heardAt).rules, {
    limits,
    now: runningMs,
  });
  const restored = [...desired].filter(
    ([key]) => isTrafficSet(key) || own.has(key) || !listing || listing.secondsLeft.has(key),
  );
  if (restored.length > 0) await guard.enforce(new Map([...carried, ...restored]));
  return { guard, carried };
}

/** What a table lets in, with the ends it has. */
export function addressElements({ secondsLeft }: Listing): Map<string, number> {
  const now = runningMs();
  const open = [...secondsLeft].filter(([key]) => !isTrafficSet(key));
  return new Map(open.map(([key, seconds]) => [key, now + seconds * 1000]));
}
