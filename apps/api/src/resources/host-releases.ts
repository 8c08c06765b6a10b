import { Injectable } from '@nestjs/common';
import { DriverRegistry } from '#drivers';
import { EnginePort } from '#engine-store/port';
import type { Tx } from '#entities';
import type { ResourceRow } from '#tenant-store';
import {
  trafficOf,
  unionOf,
  withoutCovered,
  withoutOverlap,
  type OrganizationId,
  type Traffic,
} from '#rules';
import { invalidField, notPossible } from '../errors/api-error';
import { targetNameOf } from './resource-naming';

/** Ports of one host that wait to be released. */
const MAX_PENDING_PORTS = 1000;

/** A resource before or after a change. */
type Named = Pick<ResourceRow, 'provider' | 'resourceType' | 'resourceIdentifier' | 'config'>;

/** The change of a resource. `from` null: it is created; `to` null: it is deleted. */
export interface NamedChange {
  readonly from: (Named & { readonly id: string }) | null;
  readonly to: Named | null;
  /** release what the resource no longer names, unless another one names it */
  readonly releasePorts: boolean;
}

/** What hosts are to release, kept in agreement with what their resources name. */
@Injectable()
export class HostReleases {
  constructor(private readonly engine: EnginePort) {}

  /**
   * Call it before the resource's target is locked: requests of agents lock the agent first. It drops earlier releases of
   * traffic that the resource names, so that none of them opens what is guarded anew.
   * @returns the released traffic
   * @throws ApiError 400 when too many ports of the host wait to be released
   */
  async apply(tx: Tx, organization: OrganizationId, change: NamedChange): Promise<Traffic[]> {
    const before = hostOf(change.from, organization);
    const after = hostOf(change.to, organization);
    const keys = new Set([before, after].flatMap((host) => host?.key ?? []));
    const released: Traffic[] = [];
    for (const key of [...keys].toSorted()) {
      const release = await this.engine.agentGuards.lockRelease(tx, organization, key);
      if (!release) continue;
      const left = before?.key === key ? before.traffic : [];
      const named = after?.key === key ? after.traffic : [];
      const freed = change.releasePorts
        ? withoutCovered(left, [
            ...named,
            ...(await this.engine.agentGuards.listTraffic(tx, organization, key, change.from?.id ?? null)),
          ])
        : [];
      const kept = withoutOverlap(release.pending, change.releasePorts ? named : [...named, ...left]);
      const pending = unionOf(kept, freed);
      if (pending.reduce((sum, { ports }) => sum + ports.length, 0) > MAX_PENDING_PORTS) throw tooManyPorts();
      await this.engine.agentGuards.setRelease(tx, organization, release, pending);
      released.push(...freed);
    }
    return released;
  }
}

/** @throws ApiError 400 when ports are to be released of something that is no host with an agent */
export function refuseRelease({ provider }: Pick<ResourceRow, 'provider'>, releasePorts: boolean): void {
  if (!releasePorts || !DriverRegistry.isDriven(provider)) return;
  const message = `applies to resources of the provider AGENT only, and this one is of ${provider}: leave it out`;
  throw invalidField('releasePorts', message);
}

function hostOf(
  named: Named | null,
  organization: OrganizationId,
): { key: string; traffic: Traffic[] } | null {
  if (!named || DriverRegistry.isDriven(named.provider)) return null;
  const type = DriverRegistry.facts(named.provider).resourceTypes[named.resourceType]!;
  return { key: targetNameOf(named, type, {}, organization).key, traffic: trafficOf(named.config) };
}

function tooManyPorts(): Error {
  const message = `cannot be true: ${MAX_PENDING_PORTS} ports of the host wait for its agent to release them; start the agent first`;
  return notPossible(`releasePorts ${message}`, { validationErrors: { releasePorts: message } });
}
