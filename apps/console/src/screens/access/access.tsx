import { useState } from 'react';
import { $api, live, useList, type List, type Schemas } from '../../api';
import { useMe } from '../../layout/me';
import { isLive, isUnsettled, LIVE, resourcesOf, type Session } from '../../parts/sessions';
import { ButtonLink, Empty, Loaded, Notice, Page, Section, unbroken } from '../../ui';
import { Ask, OwnRequests } from './asking';
import { isElsewhere, letsIn, OwnAddress, useOwnAddresses } from './own-address';
import { SessionCard } from './session-card';
import { Moved, StartForm } from './start';
import { TerminalLines } from './terminal-lines';

type Me = Schemas['MeDto'];

const SHOWN = { query: { status: [...LIVE, 'EXPIRING'], size: 100 } };
const isAnyUnsettled = ({ items }: List<Session>): boolean => items.some(isUnsettled);

/** The member's screen: in with one click, and everything that is open. */
export function Access() {
  const me = useMe();
  // all of them: without a page, nothing is left out
  const query = { params: { query: { assigned: true } } };
  const resources = $api.useQuery('get', '/api/v1/resources', query, { refetchInterval: false });
  const sessions = useList('/api/v1/sessions', SHOWN, { isUnsettled: isAnyUnsettled });
  return (
    <Page title="Access">
      <Loaded query={me}>
        {(person) => (
          <Loaded query={resources}>
            {(assigned) => (
              <Loaded query={sessions}>
                {({ items }) => <AccessOf me={person} resources={assigned} shown={items} />}
              </Loaded>
            )}
          </Loaded>
        )}
      </Loaded>
    </Page>
  );
}

type AccessProps = { me: Me; resources: readonly Schemas['ResourceDto'][]; shown: readonly Session[] };

function AccessOf({ me, resources, shown }: AccessProps) {
  const { data: own, error } = useOwnAddresses();
  const [touched, setTouched] = useState<string | null>(null);
  const sessions = useWith(shown, touched);
  // a lockdown, which the screen names above, refuses every start
  const usable = me.lockdown ? [] : resources.filter(({ isActive }) => isActive);
  const personal = sessions.filter(isPersonal);
  const here = personal.find((each) => own && letsIn(each, own));
  const isIn = here !== undefined;
  // what others approve is for its address: it does not follow
  const elsewhere = own
    ? personal.filter((each) => each.accessRequestId === null && isElsewhere(each, own))
    : [];
  // one beside that of this place is meant for another place
  const left = isIn && own ? elsewhere.filter((each) => letsIn(each, own)) : elsewhere;
  const inactive = resources.filter(({ isActive }) => !isActive).map(({ name }) => name);
  const given = { me, resources: usable, onStarted: setTouched };
  // what needs no approval; once the own address is let in, for another one
  const free = usable.filter(({ approvalsNeeded }) => !approvalsNeeded);
  const isOffered = free.length > 0 && !(isIn && me.organization.requireDetectedAddress);
  const areAll = free.length === usable.length;
  const start =
    (own || error) && isOffered ? <StartForm {...given} {...{ isIn, areAll }} resources={free} /> : null;
  // what others approve may be asked for beside what is open
  const held = sessions.filter((each) => own && isLive(each) && letsIn(each, own)).flatMap(resourcesOf);
  const asked = usable.filter(
    ({ id, approvalsNeeded }) => approvalsNeeded && !held.some((each) => each.id === id),
  );
  return (
    <>
      <Section title="Your address">
        <OwnAddress own={own} error={error} here={here} />
        {left.map((session) => (
          <Moved key={session.id} {...given} session={session} />
        ))}
        {resources.length === 0 ? <NoResources me={me} /> : null}
        {isIn || start === null ? null : left.length === 0 ? (
          start
        ) : (
          <details>
            <summary>Start another session instead</summary>
            {start}
          </details>
        )}
        {inactive.length > 0 ? (
          <Notice>Not available until an administrator has verified it: {inactive.join(', ')}</Notice>
        ) : null}
      </Section>
      {/* that of this place comes first */}
      {sessions
        .toSorted((a, b) => Number(b === here) - Number(a === here))
        .map((session) => (
          <SessionCard
            key={session.id}
            session={session}
            isTouched={session.id === touched}
            onTouch={setTouched}
          />
        ))}
      <OwnRequests me={me} onStarted={setTouched} />
      <Ask {...given} resources={asked} />
      {isIn && start ? <Section>{start}</Section> : null}
      {usable.length > 0 ? <TerminalLines resources={usable} /> : null}
    </>
  );
}

/** Whom to ask, or what to do. */
const NoResources = ({ me }: { readonly me: Me }) =>
  me.isOrgAdmin ? (
    <Empty title="None of your roles has a resource yet">
      <ButtonLink kind="primary" to="/set-up">
        Set up
      </ButtonLink>
    </Empty>
  ) : (
    <Empty title="No resource is assigned to you yet">
      <p>
        Ask an administrator of {me.organization.name} to add you ({unbroken(me.email)}) to a role.
      </p>
    </Empty>
  );

/** Those of programs come and go by themselves. */
const isPersonal = (session: Session): boolean =>
  isLive(session) && session.holder === null && session.leaseUntil === null;

/** What was just started or stopped stays on the screen when it is over: that shows how it ended. */
function useWith(shown: readonly Session[], touched: string | null): readonly Session[] {
  const isShown = touched === null || shown.some(({ id }) => id === touched);
  const path = { params: { path: { id: touched ?? '' } } };
  const options = { ...live<Session>(isUnsettled), enabled: !isShown };
  const { data } = $api.useQuery('get', '/api/v1/sessions/{id}', path, options);
  return isShown || !data ? shown : [data, ...shown];
}
