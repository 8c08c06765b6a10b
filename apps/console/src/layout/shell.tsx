import { Link, Outlet, useRouter, useRouterState } from '@tanstack/react-router';
import { Fragment, useEffect, useState, type ReactNode } from 'react';
import { signOut, useList } from '../api';
import { PAGE_SIZE } from '../parts/search';
import { LockdownBanner } from './lockdown-banner';
import { Action, Badge, Button, Icon, Loaded, Muted, Page, Announcement, Stale, Unanswered } from '../ui';
import { useZone, ZoneSwitch } from '../ui';
import { useMe } from './me';
import styles from './shell.module.css';

const MEMBER = [
  ['/', 'Access'],
  ['/requests', 'Requests'],
  ['/decide', 'Approvals'],
  ['/history', 'History'],
  ['/account', 'Account'],
] as const;

const ADMINISTRATOR = [
  [
    'Oversight',
    [
      ['/attention', 'Needs attention'],
      ['/open', 'Sessions'],
      ['/static-rules', 'Static IP rules'],
      ['/reviews', 'Reviews'],
      ['/report', 'Access report'],
      ['/audit', 'Audit trail'],
    ],
  ],
  [
    'Set-up',
    [
      ['/set-up', 'Set up access'],
      ['/resources', 'Resources'],
      ['/credentials', 'Credentials'],
      ['/people', 'People'],
      ['/roles', 'Roles'],
      ['/automation', 'Automation'],
      ['/webhooks', 'Webhooks'],
      ['/organization', 'Organization'],
    ],
  ],
] as const;

/** The frame of every screen of a signed-in person: the menu and the screen. */
export function Shell() {
  const me = useMe();
  const isOrgAdmin = me.data?.isOrgAdmin ?? false;
  const waiting = useWaiting(isOrgAdmin);
  const amiss =
    useList('/api/v1/attention', { query: { size: 1 } }, { enabled: isOrgAdmin }).data?.total ?? 0;
  const counts = { '/decide': waiting, '/attention': amiss };
  const { pathname } = useRouterState({ select: ({ location }) => location });
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [pathname]);
  const router = useRouter();
  // a sign-out leads there, also while the server is away
  useEffect(() => void router.preloadRoute({ to: '/sign-in' }), [router]);
  return (
    <div className={styles['shell']}>
      <a className={styles['skip']} href="#content">
        Skip the menu
      </a>
      <header className={styles['side']} data-open={isOpen}>
        <div className={styles['top']}>
          <Brand />
          <span className={styles['menu']}>
            <Button kind="plain" aria-expanded={isOpen} aria-label="Menu" onClick={() => setOpen(!isOpen)}>
              <Icon name="menu" />
            </Button>
          </span>
        </div>
        <nav aria-label="Screens">
          {/* who never decides has no use for it */}
          <Group
            links={MEMBER.filter(([to]) => to !== '/decide' || isOrgAdmin || waiting > 0)}
            counts={counts}
          />
          {isOrgAdmin
            ? ADMINISTRATOR.map(([title, links]) => (
                <Group key={title} title={title} links={links} counts={counts} />
              ))
            : null}
        </nav>
        {me.data ? (
          <div className={styles['who']}>
            <strong>{me.data.name}</strong>
            <Muted>{me.data.email}</Muted>
            <Muted>{me.data.organization.name}</Muted>
            <Muted>
              <ZoneSwitch />
            </Muted>
            <Action kind="plain" label="Sign out" announcement={null} act={() => signOut()} />
          </div>
        ) : null}
      </header>
      <main id="content" className={styles['main']} tabIndex={-1}>
        <div className={styles['banners']}>
          <Stale />
          <Unanswered />
          {me.data?.lockdown ? <LockdownBanner me={me.data} of={me.data.lockdown} /> : null}
        </div>
        {/* in another zone, everything is written anew */}
        <Fragment key={useZone()}>
          <Outlet />
        </Fragment>
        <Announcement />
      </main>
    </div>
  );
}

const Brand = () => (
  <span className={styles['brand']}>
    <img src="/icon.svg" alt="" /> Drawbridge
  </span>
);

/** As the screen of approvals lists them: read once for both. */
const countOf = (view: string) => ({ query: { view, page: 0, size: PAGE_SIZE } });

/** What waits for the decision or the review of this person. */
function useWaiting(isOrgAdmin: boolean): number {
  const decide = useList('/api/v1/access-requests', countOf('decide')).data;
  const review = useList('/api/v1/access-requests', countOf('review'), { enabled: isOrgAdmin }).data;
  return (decide?.total ?? 0) + (review?.total ?? 0);
}

interface GroupProps {
  readonly title?: string;
  readonly links: readonly (readonly [to: string, text: string])[];
  /** what waits on a screen, by its path */
  readonly counts: Readonly<Record<string, number>>;
}

function Group({ title, links, counts }: GroupProps) {
  return (
    <div className={styles['group']}>
      {title ? <span>{title}</span> : null}
      {links.map(([to, text]) => (
        <Link key={to} to={to} activeOptions={{ exact: to === '/' }}>
          {text} {counts[to] ? <Badge tone="warn">{counts[to]}</Badge> : null}
        </Link>
      ))}
    </div>
  );
}

/** The frame of screens without a signed-in user: sign-in and its steps. */
export const Alone = ({ children }: { readonly children: ReactNode }) => (
  <main className={styles['alone']}>
    <Brand />
    <div className={styles['card']}>
      <Unanswered />
      {children}
    </div>
  </main>
);

/** Screens of administrators. The API refuses others by itself; this says so before it is asked. */
export function AdministratorsOnly() {
  const me = useMe();
  return (
    <Loaded query={me}>
      {({ isOrgAdmin, organization }) =>
        isOrgAdmin ? (
          <Outlet />
        ) : (
          <Page
            title="For administrators"
            lead={`An administrator of ${organization.name} can open this page.`}
          />
        )
      }
    </Loaded>
  );
}
