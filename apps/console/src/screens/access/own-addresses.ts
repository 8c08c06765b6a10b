import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { openApi, queryClient, type Schemas } from '../../api';
import type { Session } from '../../parts/sessions';

type Detected = Schemas['DetectedAddressDto'];

/** The addresses that this person comes from, as the service sees them. */
export interface OwnAddresses {
  readonly ipv4: string | null;
  readonly ipv6: string | null;
  readonly warnings: readonly string[];
  /** what a request to this origin cannot show: a session must name the addresses to get both */
  readonly isByFamily: boolean;
}

/** Whether one of its addresses is that of this person now. */
export const letsIn = (session: Session, { ipv4, ipv6 }: OwnAddresses): boolean =>
  (ipv4 !== null && session.ipv4Address === ipv4) || (ipv6 !== null && session.ipv6Address === ipv6);

/** Whether an address of it is known to have changed. */
export const isElsewhere = ({ ipv4Address, ipv6Address }: Session, { ipv4, ipv6 }: OwnAddresses): boolean =>
  [[ipv4Address, ipv4] as const, [ipv6Address, ipv6] as const].some(
    ([held, now]) => held !== null && now !== null && held !== now,
  );

/** Detection is limited for all who share an address: it is asked rarely, and when the person comes back. */
const DETECTION_MS = 60_000;
/** A network without IPv6 may let a connection wait for long. */
const FAMILY_TIMEOUT_MS = 3_000;

const OWN = { queryKey: ['own-addresses'], queryFn: observe } as const;

export const useOwnAddresses = (): UseQueryResult<OwnAddresses> =>
  useQuery({ ...OWN, refetchInterval: DETECTION_MS, staleTime: DETECTION_MS / 2 });

/** The address fields of a new session, observed now: a network may have changed a second ago. */
export async function ownAddressFields(
  mustBeDetected: boolean,
): Promise<Pick<Schemas['StartSessionDto'], 'ipv4Address' | 'ipv6Address'>> {
  // the service takes the address of the request
  if (mustBeDetected) return {};
  const own = await queryClient.fetchQuery({ ...OWN, staleTime: 0, retry: false }).catch(() => null);
  if (!own?.isByFamily) return {};
  return {
    ...(own.ipv4 === null ? {} : { ipv4Address: own.ipv4 }),
    ...(own.ipv6 === null ? {} : { ipv6Address: own.ipv6 }),
  };
}

async function observe(): Promise<OwnAddresses> {
  const [own, bases] = await Promise.all([openApi.GET('/api/v1/detect-ip'), familyBases()]);
  const others = await Promise.all(bases.map(detectAt));
  const seen = [own.data!, ...others].filter((each) => each !== null);
  const of = (version: Detected['version']): string | null =>
    // the names of one family come last, and are certain
    seen.findLast((each) => each.version === version)?.ip ?? null;
  const warnings = [...new Set(seen.flatMap((each) => each.warnings))];
  return { ipv4: of('IPv4'), ipv6: of('IPv6'), warnings, isByFamily: others.some((each) => each !== null) };
}

/** Addresses of the service that are reached over one family only. */
async function familyBases(): Promise<readonly string[]> {
  const { ipv4Url, ipv6Url } = await queryClient.ensureQueryData({
    queryKey: ['discovery'],
    queryFn: async () => (await openApi.GET('/.well-known/drawbridge')).data!,
  });
  const given = [ipv4Url, ipv6Url].filter((url) => url !== null);
  return given.filter((url) => new URL(url).origin !== location.origin);
}

/** @returns null when there is no way over this family */
const detectAt = (base: string): Promise<Detected | null> =>
  fetch(new URL('/api/v1/detect-ip', base), {
    signal: AbortSignal.timeout(FAMILY_TIMEOUT_MS),
    credentials: 'omit',
  })
    .then((response) => (response.ok ? (response.json() as Promise<Detected>) : null))
    .catch(() => null);
