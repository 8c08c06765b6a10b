import { DriverRegistry } from '#drivers';
import type { AccountQueue, ResourceIpRow, SessionRow } from '#tenant-store';
import { addressWarnings, divideSkipped, waitSeconds } from '#rules';
import { portWarnings } from '../resources/resource.mapper';
import type {
  InactiveResourcesDto,
  ResourceIpDto,
  SessionDto,
  SkippedIpDto,
  StartedSessionDto,
} from './dto/session.dto';

const moment = (time: string | null): Date | null => (time === null ? null : new Date(time));

/** When the provider acts on a rule that is on the target; null: at once, or it is not there. */
function effectiveBy(appliedAt: Date | null, resource: ResourceIpRow['resource']): Date | null {
  if (appliedAt === null || resource === null) return null;
  const { resourceTypes } = DriverRegistry.facts(resource.provider);
  const { atMostSeconds = 0 } = resourceTypes[resource.resourceType]?.effect ?? {};
  return atMostSeconds === 0 ? null : new Date(appliedAt.getTime() + atMostSeconds * 1000);
}

const toResourceIp = ({ isWrongFamily: _, resource, ...row }: ResourceIpRow): ResourceIpDto => ({
  ...row,
  appliedAt: moment(row.appliedAt),
  effectiveBy: effectiveBy(moment(row.appliedAt), resource),
  removedAt: moment(row.removedAt),
  warnings: resource ? [...portWarnings(resource), ...addressWarnings(row.ipAddress, resource.provider)] : [],
});

const toSkippedIp = ({
  resourceId,
  resourceName,
  ipVersion,
  ipAddress,
  errorMessage,
}: ResourceIpRow): SkippedIpDto => ({
  resourceId,
  resourceName,
  ipVersion,
  ipAddress,
  reason: errorMessage ?? '',
});

/** Of the longest of the queues; null: there is none. */
export const longestWait = (queues: readonly AccountQueue[]): number | null =>
  queues.length === 0
    ? null
    : Math.max(
        ...queues.map((queue) => {
          const { traits } = DriverRegistry.facts(queue.provider).resourceTypes[queue.resourceType]!;
          return waitSeconds(queue, traits.writeBudget);
        }),
      );

export function toSession({ queues, holder, resourceIps, ...row }: SessionRow): SessionDto {
  const { held, skipped } = divideSkipped(resourceIps);
  return {
    ...row,
    holder: holder === '' ? null : holder,
    resourceIps: held.map(toResourceIp),
    opensInSeconds: longestWait(queues ?? []),
    ...(skipped.length > 0 && { skippedIps: skipped.map(toSkippedIp) }),
  };
}

interface OfStart {
  /** undefined: it has none */
  readonly sessionToken?: string | undefined;
  /** null: none is left out */
  readonly inactiveResources?: InactiveResourcesDto | null | undefined;
}

/** Adds to the response what only that of a start has. */
export const toStarted = (
  session: SessionDto,
  { sessionToken, inactiveResources }: OfStart,
): StartedSessionDto =>
  Object.assign(
    session,
    sessionToken !== undefined && { sessionToken },
    inactiveResources && { inactiveResources },
  );
