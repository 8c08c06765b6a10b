import { useEffect, useRef } from 'react';
import { Outcomes } from '../../parts/outcomes';
import { SessionActions } from '../../parts/session-actions';
import { addressesOf, endOf, headlineOf, isLive, STATUS, type Session } from '../../parts/sessions';
import { SessionLink } from '../../parts/words';
import { Badge, Code, Section, TimeLeft } from '../../ui';
import styles from './access.module.css';

type CardProps = { session: Session; isTouched: boolean; onTouch: (id: string) => void };

/** One session of this person, and what can be done with it. @param isTouched it was just started or stopped */
export function SessionCard({ session, isTouched, onTouch }: CardProps) {
  const [text, tone] = STATUS[session.status];
  const isOpen = isLive(session);
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // the button that was pressed may be gone now: the focus goes on to what it did
    if (isTouched && /^(?:BODY|H[12])$/.test(document.activeElement?.tagName ?? '')) card.current?.focus();
  }, [isTouched, text]);
  return (
    <div ref={card} tabIndex={-1}>
      <Section
        title={headlineOf(session)}
        actions={<SessionActions isOwn session={session} onStopped={onTouch} />}
      >
        <p className={styles['line']}>
          <span role="status">
            <Badge tone={tone}>{text}</Badge>
          </span>
          {isOpen ? <TimeLeft until={endOf(session)} /> : null}
          {isOpen && session.leaseUntil !== null ? <span>unless its program renews it</span> : null}
          {addressesOf(session).map((address) => (
            <Code key={address}>{address}</Code>
          ))}
          {session.holder === null ? null : <span>for {session.holder}</span>}
          <SessionLink id={session.id}>Details</SessionLink>
        </p>
        <Outcomes session={session} />
      </Section>
    </div>
  );
}
