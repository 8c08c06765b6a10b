import { asFailure, useList } from '../../api';
import { Badge, Loading, Muted, Notice } from '../../ui';
import styles from './access.module.css';
import { isElsewhere, type OwnAddresses } from './own-addresses';
import { addressesOf, STATUS, type Session } from '../../parts/sessions';

interface OwnProps {
  readonly own: OwnAddresses | undefined;
  readonly error: unknown;
  /** the session that lets it in */
  readonly here: Session | undefined;
}

const LET_IN: Partial<Record<Session['status'], string>> = {
  PENDING: 'opening',
  ACTIVE: 'let in',
  PARTIAL: 'let in, in part',
};

/** Where the service sees this person come from, and what may be wrong with that. */
export function OwnAddress({ own, error, here }: OwnProps) {
  if (own === undefined)
    return error ? <Notice tone="warn">{asFailure(error).message}</Notice> : <Loading what="Detecting" />;
  return (
    <>
      <div className={styles['own']}>
        {[own.ipv4, own.ipv6].map((address) =>
          address === null ? null : (
            <code key={address} className={styles['address']}>
              {address}
            </code>
          ),
        )}
        {here ? <Badge tone={STATUS[here.status][1]}>{LET_IN[here.status] ?? ''}</Badge> : null}
      </div>
      {own.warnings.map((warning) => (
        <Notice key={warning} tone="warn">
          {warning}
        </Notice>
      ))}
      {here ? null : <Changed own={own} />}
    </>
  );
}

const LAST = { query: { size: 1 } };

/** Another network than last time: good to know before it is let in. */
function Changed({ own }: { readonly own: OwnAddresses }) {
  const { data } = useList('/api/v1/sessions', LAST);
  const last = data?.items[0];
  if (!last || last.holder !== null || !isElsewhere(last, own)) return null;
  return (
    <Muted>It has changed since your last session, which let in {addressesOf(last).join(' and ')}.</Muted>
  );
}
