import type { SimulatorClient } from '../../harness/product/simulator-client';
import { until } from '../../harness/until';

/** Events of an address, or in a target, from the cloud's timeline: `opened`, `closed`, in order. */
export async function historyOf(
  cloud: SimulatorClient,
  what: { readonly target?: string; readonly address?: string },
): Promise<string[]> {
  const entries = await cloud.timeline();
  return entries
    .filter((entry) => (what.target ?? entry.target) === entry.target)
    .filter((entry) => (what.address ?? entry.address) === entry.address)
    .map((entry) => entry.event);
}

/** Number of calls on a target that start with the verb (`Authorize`, `Revoke`, `Describe`), without dry runs. */
export async function callsTo(cloud: SimulatorClient, target: string, verb: string): Promise<number> {
  const calls = await cloud.calls();
  const meant = calls.filter((call) => call.target === target && call.operation.startsWith(verb));
  return meant.filter((call) => call.outcome !== 'DryRunOperation').length;
}

/** Waits for one more call. @param before result of `callsTo` */
export function nextCall(cloud: SimulatorClient, target: string, verb: string, before = 0): Promise<boolean> {
  return until(
    `${verb} call ${before + 1} to ${target}`,
    async () => (await callsTo(cloud, target, verb)) > before,
  );
}
