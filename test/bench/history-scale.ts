import { organization, sshTo, type Organization } from '../builders/accounts/organization';
import { Drawbridge } from '../harness/product/drawbridge';

/** 1: the full size. A smoke test runs a hundredth. */
export const SCALE = Number(process.env['HISTORY_SCALE'] ?? 1);
export const scaled = (count: number): number => Math.max(1, Math.round(count * SCALE));

/** Goal: how many times longer anything may take with a history than without. */
export const MAX_RATIO = 1.2;

/** One deployment, with or without a history, with its own database on the shared server. */
export interface Side {
  readonly drawbridge: Drawbridge;
  readonly org: Organization;
}

/** Starts an API with an organization of two resources, and adds it to the sides that the caller stops. */
export async function startSide(sides: Side[]): Promise<Side> {
  const drawbridge = await Drawbridge.start({ worker: false });
  const org = await organization(drawbridge, sshTo(2));
  const side = { drawbridge, org };
  sides.push(side);
  return side;
}
