import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { asFailure, openApi, queryClient, useList, type Schemas } from '../../api';
import { addressesOf, STATUS, type Session } from '../../parts/sessions';
import { Badge, Code, Loading, Muted, Notice } from '../../ui';
import styles from './access.module.css';

type Detected = Schemas['DetectedAddressDto'];
type AddressFields = Pick<Schemas['StartSessionDto'], 'ipv4Address' | 'ipv6Address'>;

/** The addresses that this person comes from, as the service sees them. */
export interface OwnAddresses {
  readonly ipv4: string | null;
  readonly ipv6: string | null;
  readonly warnings: readonly string[];
  /** what a request to this origin cannot show: a session must name the addresses to get both */
  readonly isByFamily: boolean;
}

export const addressesIn = ({ ipv4, ipv6 }: OwnAddresses): readonly string[] =>
  [ipv4, ipv6].filter((address) => address !== null);

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
export async function ownAddressFields({ organization }: Schemas['MeDto']): Promise<AddressFields> {
  // the service takes the address of the request
  if (organization.requireDetectedAddress) return {};
  const own = await queryClient.fetchQuery({ ...OWN, staleTime: 0, retry: false }).catch(() => null);
  if (!own?.isByFamily) return {};
  return {
    ...(own.ipv4 === null ? {} : { ipv4Address: own.ipv4 }),
    ...(own.ipv6 === null ? {} : { ipv6Address: own.ipv6 }),
  };
}

async function observe(): Promise<OwnAddresses> {
  const [own, discovery] = await Promise.all([
    openApi.GET('/api/v1/detect-ip'),
    queryClient.ensureQueryData({
      queryKey: ['discovery'],
      queryFn: async () => (await openApi.GET('/.well-known/drawbridge')).data!,
    }),
  ]);
  // addresses of the service that are reached over one family only
  const bases = [discovery.ipv4Url, discovery.ipv6Url].filter((url) => url !== null);
  const others = await Promise.all(
    bases.filter((url) => new URL(url).origin !== location.origin).map(detectAt),
  );
  const seen = [own.data!, ...others].filter((each) => each !== null);
  const of = (version: Detected['version']): string | null =>
    // the names of one family come last, and are certain
    seen.findLast((each) => each.version === version)?.ip ?? null;
  const warnings = [...new Set(seen.flatMap((each) => each.warnings))];
  return { ipv4: of('IPv4'), ipv6: of('IPv6'), warnings, isByFamily: others.some((each) => each !== null) };
}

/** @returns null when there is no way over this family */
async function detectAt(base: string): Promise<Detected | null> {
  const signal = AbortSignal.timeout(FAMILY_TIMEOUT_MS);
  return fetch(new URL('/api/v1/detect-ip', base), { signal, credentials: 'omit' })
    .then((response) => (response.ok ? (response.json() as Promise<Detected>) : null))
    .catch(() => null);
}

type OwnProps = { own: OwnAddresses | undefined; error: unknown; here: Session | undefined };

/** Where the service sees this person come from, and what may be wrong with that. @param here what lets it in */
export function OwnAddress({ own, error, here }: OwnProps) {
  const last = useList('/api/v1/sessions', { query: { size: 1 } }).data?.items[0];
  if (own === undefined)
    return error ? <Notice tone="warn">{asFailure(error).message}</Notice> : <Loading what="Detecting" />;
  const hasChanged = !here && last?.holder === null && isElsewhere(last, own);
  return (
    <>
      <div className={styles['line']}>
        {addressesIn(own).map((address) => (
          <span key={address} className={styles['address']}>
            <Code copied="Your address">{address}</Code>
          </span>
        ))}
        {here ? (
          <Badge tone={STATUS[here.status][1]}>{here.status === 'PENDING' ? 'opening' : 'let in'}</Badge>
        ) : null}
      </div>
      {own.warnings.length > 0 ? <Notice tone="warn">{own.warnings.join('. ')}</Notice> : null}
      {hasChanged ? (
        <Muted>It has changed since your last session, which let in {addressesOf(last).join(' and ')}.</Muted>
      ) : null}
    </>
  );
}
