import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { Outcomes } from '../../parts/outcomes';
import { ExtendButton, StopAction } from '../../parts/session-actions';
import { addressesOf, endOf, headlineOf, isLive, STATUS, type Session } from '../../parts/sessions';
import { Badge, Muted, Section, TimeLeft } from '../../ui';
import styles from './access.module.css';

interface CardProps {
  readonly session: Session;
  /** the person has just started or stopped it */
  readonly isTouched: boolean;
  readonly onTouch: (id: string) => void;
}

/** One session of this person: what it opens, until when, and what can be done with it. */
export function SessionCard({ session, isTouched, onTouch }: CardProps) {
  const [text, tone] = STATUS[session.status];
  const isOpen = isLive(session);
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // the button that was pressed may be gone now: the focus goes on to what it did
    if (isTouched && document.activeElement === document.body) card.current?.focus();
  }, [isTouched, text]);
  const actions = (
    <>
      <ExtendButton session={session} />
      <StopAction session={session} onStopped={onTouch} />
    </>
  );
  return (
    <div ref={card} tabIndex={-1}>
      <Section title={headlineOf(session)} actions={isOpen ? actions : null}>
        <p className={styles['line']}>
          <span role="status">
            <Badge tone={tone}>{text}</Badge>
          </span>
          {isOpen ? <TimeLeft until={endOf(session)} /> : null}
          {addressesOf(session).map((address) => (
            <code key={address}>{address}</code>
          ))}
          {session.holder === null ? null : <span>for {session.holder}</span>}
          <Link to="/sessions/$id" params={{ id: session.id }}>
            Details
          </Link>
        </p>
        {isOpen && session.leaseUntil !== null ? (
          <Muted>A program keeps this open; it closes soon after the program ends.</Muted>
        ) : null}
        <Outcomes session={session} />
      </Section>
    </div>
  );
}
