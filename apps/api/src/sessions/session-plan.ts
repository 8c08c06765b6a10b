import type { NewResourceIp } from '#engine-store/port';
import type { GrantRow, NewSession, Requested } from '#tenant-store';
import {
  readGivenAddress,
  refusalOf,
  meantBy,
  named,
  REFUSAL_MESSAGES,
  UnknownName,
  type AddressPolicy,
  type Caller,
  type Demand,
  type HostAddress,
  type IpVersion,
  type MaximumDuration,
} from '#rules';
import { badRequest, forbidden, invalidField, notFound, notPossible } from '../errors/api-error';
import { unusableMessage } from '../http/caller-address';
import { newResourceIp } from '../resources/planned-rules';
import type { InactiveResourcesDto } from './dto/session.dto';
import type { StartSessionDto } from './dto/start-session.dto';

export interface SessionAddresses {
  readonly ipv4: string | null;
  readonly ipv6: string | null;
}

export interface PlannedSession {
  /** the resources, with what the user's roles say of each */
  readonly grants: readonly GrantRow[];
  /** null: none is left out */
  readonly inactiveResources: InactiveResourcesDto | null;
  readonly addresses: SessionAddresses;
  /** as `addresses`, with the range that is opened around the IPv6 address */
  readonly opened: SessionAddresses;
  /** whether an address was given that is not the caller's */
  readonly addressDiffers: boolean;
  readonly hours: number;
  readonly maximum: MaximumDuration;
  /** of the session whose place it takes */
  readonly replaced: NewSession['replaced'];
  readonly demand: Demand;
  /** how many live sessions its user may have */
  readonly limits: NewSession['limits'];
}

const FIELDS = { 4: 'ipv4Address', 6: 'ipv6Address' } as const;

/**
 * The addresses a session allows: those given; for an omitted IP version the caller's own, if it has that version.
 * @throws ApiError 400 naming the field
 */
export function sessionAddresses(
  given: Pick<StartSessionDto, 'ipv4Address' | 'ipv6Address'>,
  caller: Caller,
  policy: AddressPolicy,
): SessionAddresses {
  const detected = sourceOf(caller);
  const ipv4 = addressOf(4, given.ipv4Address, detected, policy);
  const ipv6 = addressOf(6, given.ipv6Address, detected, policy);
  if (ipv4 === null && ipv6 === null) {
    const seen = caller.unusable === null ? '' : `${unusableMessage(caller.unusable)}. `;
    throw badRequest(
      `${seen}No address was given and none could be detected: send ipv4Address or ipv6Address`,
    );
  }
  return { ipv4, ipv6 };
}

const sourceOf = ({ address, unusable }: Caller): HostAddress | null => (unusable === null ? address : null);

type AddressField = (typeof FIELDS)[IpVersion];

/** The field whose given address differs from the caller's; null when there is none. */
export function fieldDifferingFromCaller(
  given: Pick<StartSessionDto, AddressField>,
  { ipv4, ipv6 }: SessionAddresses,
  caller: Caller,
): AddressField | null {
  const detected = sourceOf(caller)?.text ?? null;
  if (given.ipv4Address !== undefined && ipv4 !== detected) return 'ipv4Address';
  return given.ipv6Address !== undefined && ipv6 !== detected ? 'ipv6Address' : null;
}

/** 400 for organizations that allow only the caller's own address. */
export function mustBeCallerAddress(field: AddressField, caller: Caller): Error {
  const source = sourceOf(caller);
  const own = source === null ? 'the address you call from' : `${source.text}, the address you call from,`;
  const message = `must be ${own} or be left out: your organization requires it`;
  return notPossible(`${field} ${message}`, { validationErrors: { [field]: message } });
}

function addressOf(
  version: IpVersion,
  given: string | undefined,
  caller: HostAddress | null,
  policy: AddressPolicy,
): string | null {
  const field = FIELDS[version];
  if (given !== undefined) {
    const read = readGivenAddress(given, version, policy);
    if ('host' in read) return read.host.text;
    throw invalidField(field, REFUSAL_MESSAGES[read.refusal]);
  }
  if (caller?.version !== version) return null;
  return refusalOf(caller, policy) === null ? caller.text : null;
}

/**
 * The resources a session covers: the requested ones, or all active resources of the user.
 * @throws ApiError 404 when a resource is not in the organization, 403 when it is not assigned to the user, 400 when it
 *   is inactive, a name means several, or nothing remains
 */
export function selectGrants(
  grants: readonly GrantRow[],
  { resourceIds, resourceNames }: Requested,
): GrantRow[] {
  if (!resourceIds && !resourceNames) return requireAny(grants);
  const requested = [
    ...(resourceIds ?? []).map((id) => grantWithId(id, grants)),
    ...(resourceNames ?? []).map((name) => grantNamed(name, grants)),
  ];
  return [...new Set(requested)].map((grant) => {
    if (!isOwn(grant)) throw forbidden(`Resource "${grant.resourceName}" is not assigned to you`);
    if (!grant.isActive) {
      throw notPossible(`Resource "${grant.resourceName}" is inactive: an admin must verify it first`);
    }
    return grant;
  });
}

/** @param most null: any number @throws ApiError 400 */
export function refuseTooMany(resources: number, most: number | null): void {
  if (most !== null && resources > most)
    throw notPossible(
      `It would open ${resources} resources, and your organization allows at most ${most} in one session: name those you need`,
    );
}

const isOwn = ({ roles }: GrantRow): boolean => roles.length > 0;

function grantWithId(id: string, grants: readonly GrantRow[]): GrantRow {
  const grant = grants.find(({ resourceId }) => resourceId === id);
  if (grant) return grant;
  throw notFound(`Resource ${id} does not exist`);
}

/** Of several that the name fits equally, the user's own. No error names a resource that the user may not use. */
function grantNamed(name: string, grants: readonly GrantRow[]): GrantRow {
  const all = grants.map((grant) => ({ id: grant.resourceId, name: grant.resourceName, grant }));
  const meant = meantBy(name, all);
  const own = (meant.length > 0 ? meant : all).filter(({ grant }) => isOwn(grant));
  // refused as with its id
  if (meant[0] && own.length === 0) return meant[0].grant;
  try {
    return named(name, own, { one: 'resource', several: 'resources' }).grant;
  } catch (error) {
    if (!(error instanceof UnknownName)) throw error;
    throw meant.length > 0 ? notPossible(error.message) : notFound(error.message);
  }
}

function requireAny(grants: readonly GrantRow[]): GrantRow[] {
  const active = grants.filter((one) => one.isActive && isOwn(one));
  if (active.length > 0) return active;
  throw notPossible(
    grants.some(isOwn)
      ? 'None of your resources is active: each one is once it is verified'
      : 'No active resource is assigned to you: an admin assigns resources through roles',
  );
}

/** Names shown of resources that are left out. */
const MOST_NAMES = 20;

/** The user's resources that a session which names none leaves out. @returns null: there are none */
export function inactiveResources(
  grants: readonly GrantRow[],
  { resourceIds, resourceNames }: Requested,
): InactiveResourcesDto | null {
  if (resourceIds || resourceNames) return null;
  const inactive = grants.filter((one) => !one.isActive && isOwn(one));
  if (inactive.length === 0) return null;
  const names = inactive.slice(0, MOST_NAMES).map(({ resourceName }) => resourceName);
  return { total: inactive.length, sample: names };
}

/** @throws ApiError 400 when the requested duration exceeds the maximum of the tier and the roles */
export function sessionHours(
  requested: number | undefined,
  fallback: number,
  maximum: MaximumDuration,
): number {
  if (requested === undefined) return Math.min(fallback, maximum.hours);
  if (requested > maximum.hours) {
    const message = `must be at most ${maximum.hours}: the maximum set by ${maximum.setBy}`;
    throw notPossible(`durationHours ${message}`, { validationErrors: { durationHours: message } });
  }
  return requested;
}

/**
 * One holder for each address on each resource, with the cloud rules it needs.
 * @param ipv6 the address, or the range that is opened around it
 */
export function newResourceIps(
  { ipv4, ipv6 }: SessionAddresses,
  grants: readonly GrantRow[],
): NewResourceIp[] {
  return grants.flatMap((grant) => [
    ...(ipv4 === null ? [] : [newResourceIp(grant, 4, ipv4)]),
    ...(ipv6 === null ? [] : [newResourceIp(grant, 6, ipv6)]),
  ]);
}
