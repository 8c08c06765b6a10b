import { useState } from 'react';
import { api, useList, type Schemas } from '../../api';
import { Action, Badge, Button, Loaded, Row, Section, Table, Time, type Column } from '../../ui';

import styles from './access.module.css';

type SignIn = Schemas['SignInDto'];

const PAGE_SIZE = 10;

/** Where this person is signed in, and how to end that. */
export function SignIns() {
  const [size, setSize] = useState(PAGE_SIZE);
  const signIns = useList('/api/v1/auth/sign-ins', { query: { size } });
  return (
    <Section title="Where you are signed in">
      <Loaded query={signIns}>
        {({ items, total }) => (
          <>
            <Table
              caption="Your sign-ins, newest first"
              columns={COLUMNS}
              rows={items}
              keyOf={({ id }) => id}
              empty={<p>Nowhere.</p>}
            />
            {items.length < total && size < MAX_SHOWN ? (
              <Row>
                <Button onClick={() => setSize(MAX_SHOWN)}>Show all {total}</Button>
              </Row>
            ) : null}
          </>
        )}
      </Loaded>
    </Section>
  );
}

const MAX_SHOWN = 100;

const COLUMNS: readonly Column<SignIn>[] = [
  {
    head: 'With',
    cell: ({ userAgent, current }) => (
      <div title={userAgent ?? ''}>
        {programOf(userAgent)} {current ? <Badge tone="good">this one</Badge> : null}
      </div>
    ),
  },
  {
    head: 'From',
    cell: ({ ipAddress }) => <code className={styles['whole']}>{ipAddress ?? 'unknown'}</code>,
  },
  { head: 'Signed in', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { head: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
  {
    head: '',
    cell: ({ id, current }) =>
      current ? null : (
        <Action
          label="End"
          act={() => api.DELETE('/api/v1/auth/sign-ins/{id}', { params: { path: { id } } })}
        />
      ),
  },
];

/** What is found first counts: browsers name each other. */
const PROGRAMS = [
  [/drawbridge/i, 'The command line'],
  [/edg\//i, 'Edge'],
  [/firefox\//i, 'Firefox'],
  [/chrome\//i, 'Chrome'],
  [/safari\//i, 'Safari'],
] as const;
const SYSTEMS = [
  [/android/i, 'Android'],
  [/iphone|ipad/i, 'iOS'],
  [/mac os/i, 'macOS'],
  [/windows/i, 'Windows'],
  [/linux/i, 'Linux'],
] as const;

function programOf(userAgent: string | null): string {
  const find = (known: readonly (readonly [RegExp, string])[]): string | undefined =>
    known.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1];
  const system = find(SYSTEMS);
  return (find(PROGRAMS) ?? userAgent ?? 'Unknown') + (system === undefined ? '' : ` on ${system}`);
}
