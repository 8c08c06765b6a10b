import type { Schemas } from '../../api';
import { Badge, type Tone } from '../../ui';
import { Lines, Reason, ResourceLink } from './cells';
import styles from './oversight.module.css';

type IpStatus = Schemas['ResourceIpDto']['status'];
type OverallStatus = Schemas['SessionDto']['status'];

const STATES: Readonly<Record<IpStatus, readonly [text: string, tone: Tone]>> = {
  PENDING: ['opening', 'busy'],
  APPLIED: ['open', 'good'],
  FAILED: ['failed', 'bad'],
  REMOVING: ['closing', 'busy'],
  REMOVED: ['closed', 'neutral'],
};

const OVERALL: Readonly<Record<OverallStatus, readonly [text: string, tone: Tone]>> = {
  PENDING: ['Opening', 'busy'],
  ACTIVE: ['Open', 'good'],
  PARTIAL: ['Open in part', 'warn'],
  FAILED: ['Failed', 'bad'],
  EXPIRING: ['Closing', 'busy'],
  EXPIRED: ['Ended', 'neutral'],
  CANCELLED: ['Stopped', 'neutral'],
};

/** The status of a session or of a static IP rule. */
export const Status = ({ of }: { readonly of: OverallStatus }) => (
  <Badge tone={OVERALL[of][1]}>{OVERALL[of][0]}</Badge>
);

/** One address on one resource. */
export interface ResourceState {
  readonly resourceId: string;
  readonly resourceName: string;
  readonly status: IpStatus;
  readonly errorMessage: string | null;
  readonly ipVersion?: number;
  readonly warnings?: readonly string[];
}

/** More than these are folded; what is not settled, or failed, is shown all the same. */
const MAX_SHOWN = 4;

/** Resources with the state of each, and the reason of what is not as it should be. */
export function ResourceStates({ of }: { readonly of: readonly ResourceState[] }) {
  const settled = of.filter(({ status }) => status === 'APPLIED' || status === 'REMOVED');
  const isFolded = of.length > MAX_SHOWN && settled.length > 1;
  // otherwise it is clear which of the addresses a line is about
  const hasBoth = new Set(of.map(({ ipVersion }) => ipVersion)).size > 1;
  const lines = (states: readonly ResourceState[]) =>
    states.map((state) => (
      <State key={`${state.resourceId} ${state.ipVersion}`} state={state} namesVersion={hasBoth} />
    ));
  if (!isFolded) return <Lines>{lines(of)}</Lines>;
  return (
    <Lines>
      {lines(of.filter((state) => !settled.includes(state)))}
      <details>
        <summary>{summaryOf(settled)}</summary>
        <Lines>{lines(settled)}</Lines>
      </details>
    </Lines>
  );
}

/** Such as "12 resources: open". */
function summaryOf(states: readonly ResourceState[]): string {
  const resources = new Set(states.map(({ resourceId }) => resourceId));
  const texts = new Set(states.map(({ status }) => STATES[status][0]));
  return `${resources.size} resources: ${[...texts].join(' or ')}`;
}

const State = ({
  state,
  namesVersion,
}: {
  readonly state: ResourceState;
  readonly namesVersion: boolean;
}) => (
  <div className={styles['state']}>
    <ResourceLink id={state.resourceId} name={state.resourceName} />
    <Badge tone={STATES[state.status][1]}>
      {STATES[state.status][0]}
      {namesVersion ? `, IPv${state.ipVersion}` : ''}
    </Badge>
    {state.errorMessage ? <Reason isBad={state.status === 'FAILED'}>{state.errorMessage}</Reason> : null}
    {state.warnings?.map((warning) => (
      <Reason key={warning}>Note: {warning}</Reason>
    ))}
  </div>
);
