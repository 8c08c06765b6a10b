import { Link } from '@tanstack/react-router';
import { useEffect, useRef, type ReactNode } from 'react';
import { Badge, Muted, Section, Stack, TimeLeft } from '../../ui';
import styles from './access.module.css';
import { ExtendButton, StopAction } from '../../parts/session-actions';
import { addressesOf, endOf, headlineOf, isLive, STATUS, type Session } from '../../parts/sessions';
import { Outcomes } from '../../parts/outcomes';

interface CardProps {
  readonly session: Session;
  /** the person has just started or stopped it */
  readonly isTouched: boolean;
  readonly onTouch: (id: string) => void;
}

/** One session of this person: what it opens, until when, and what can be done with it. */
export function SessionCard({ session, isTouched, onTouch }: CardProps) {
  const [text, tone] = STATUS[session.status];
  const live = isLive(session);
  return (
    <FocusedWhenLost isWanted={isTouched} state={text}>
      <Section
        title={headlineOf(session)}
        actions={
          live ? (
            <>
              <ExtendButton session={session} />
              <StopAction session={session} onStopped={onTouch} />
            </>
          ) : null
        }
      >
        <Stack>
          <p className={styles['line']}>
            <span role="status">
              <Badge tone={tone}>{text}</Badge>
            </span>
            {live ? <TimeLeft until={endOf(session)} /> : null}
            {addressesOf(session).map((address) => (
              <code key={address}>{address}</code>
            ))}
            {session.holder === null ? null : <span>for {session.holder}</span>}
            <Link to="/sessions/$id" params={{ id: session.id }}>
              Details
            </Link>
          </p>
          {session.leaseUntil !== null && live ? (
            <Muted>A program keeps this open; it closes soon after the program ends.</Muted>
          ) : null}
          <Outcomes session={session} />
        </Stack>
      </Section>
    </FocusedWhenLost>
  );
}

/** The button that was pressed may be gone now: the focus goes on to what it did. */
function FocusedWhenLost(given: { isWanted: boolean; state: string; children: ReactNode }) {
  const { isWanted, state, children } = given;
  const shown = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isWanted && document.activeElement === document.body) shown.current?.focus();
  }, [isWanted, state]);
  return (
    <div ref={shown} tabIndex={-1} className={styles['card']}>
      {children}
    </div>
  );
}
