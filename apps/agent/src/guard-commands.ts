import { difference, unionOf } from '#rules';
import { formatTrafficArgument, formatTrafficList } from './format';
import { NOTHING_DECIDED, type GuardDecisions } from './guarding/guard-file';
import { bounded } from './guarding/limits';
import { addressElements, knownBefore, restoreGuard, type Host } from './host';
import { guardElements } from './nft/elements';
import { Guard } from './nft/guard';
import { runningMs } from './state/running-time';
import { takeServingLock } from './state/serving-lock';

type Print = (text: string) => void;

/** Loads the guard at boot. @returns 1 when settings were left out, or no file of the guard can be read */
export async function restore(host: Host): Promise<number> {
  const { nft, options, files } = host;
  for (const message of options.unusable) process.stderr.write(`Left out: ${message}\n`);
  const listing = await nft.list();
  const known = knownBefore(host, listing);
  await restoreGuard(host, known, listing);
  const isLost = known.decisions === null && files.guard.isPresent;
  if (isLost)
    process.stderr.write('NOTHING IS GUARDED: no guard file can be read, and DRAWBRIDGE_GUARD is not set\n');
  return options.unusable.length === 0 && !isLost ? 0 : 1;
}

/** Removes the guard. An agent that serves would make it anew. */
export async function remove({ nft, options, files }: Host): Promise<number> {
  const unlock = await takeServingLock(options.stateFile);
  if (!unlock) {
    process.stderr.write(
      'An agent serves on this host: stop it first, for example systemctl stop drawbridge-agent\n',
    );
    return 1;
  }
  await nft.removeTable();
  files.state.remove();
  files.guard.remove();
  unlock();
  return 0;
}

/** Opens ports that were guarded, unless a resource names them. */
export async function release(host: Host, print: Print): Promise<number> {
  const released = host.options.named ?? [];
  const decisions = knownBefore(host, await host.nft.list()).decisions ?? NOTHING_DECIDED;
  const missing = difference(released, decisions.guarded);
  if (missing.length > 0) {
    process.stderr.write(`Not guarded: ${formatTrafficList(missing)}\n`);
    return 1;
  }
  const isServing = await decide(host, {
    ...decisions,
    guarded: difference(decisions.guarded, released),
  });
  print(
    isServing
      ? `The agent releases ${formatTrafficList(released)}, unless a resource names it: its log says so`
      : `Released: ${formatTrafficList(released)}. No agent runs: what a resource names is guarded again when it starts`,
  );
  return 0;
}

/** Guards what waits for a confirmation, or was left alone without one. */
export async function confirm(host: Host, print: Print): Promise<number> {
  const decisions = knownBefore(host, await host.nft.list()).decisions ?? NOTHING_DECIDED;
  const undecided = unionOf(decisions.waiting, decisions.leftAlone);
  const confirmed = host.options.named ?? undecided;
  const missing = difference(confirmed, undecided);
  if (confirmed.length === 0 || missing.length > 0) {
    const waits =
      undecided.length === 0
        ? 'Nothing waits'
        : `What waits is ${formatTrafficArgument(undecided)}, nothing else waits`;
    process.stderr.write(`${waits} for a confirmation\n`);
    return 1;
  }
  await decide(host, {
    guarded: unionOf(decisions.guarded, confirmed),
    waiting: difference(decisions.waiting, confirmed),
    leftAlone: difference(decisions.leftAlone, confirmed),
  });
  print(`Confirmed, guarded from now on: ${formatTrafficList(confirmed)}`);
  return 0;
}

/**
 * An agent that serves takes it over from the guard file within a second; without one the table is changed here.
 * @returns whether an agent serves
 */
async function decide({ nft, options, files }: Host, decisions: GuardDecisions): Promise<boolean> {
  await files.guard.write(decisions);
  const unlock = await takeServingLock(options.stateFile);
  const listing = unlock && (await nft.list());
  if (listing) {
    const { allowed } = bounded(options.limits, decisions.guarded);
    const desired = new Map([...guardElements(allowed, options.limits.never), ...addressElements(listing)]);
    await new Guard(nft, runningMs, options).enforce(desired);
  }
  unlock?.();
  return unlock === null;
}
