import { api, useList, type List, type Schemas } from '../../api';
import { Badge, ConfirmButton, Empty, Loaded, Muted, Table, Time, TimeLeft, type Tone } from '../../ui';

type Session = Schemas['SessionDto'];

const STATUS: Readonly<Partial<Record<Session['status'], readonly [text: string, tone: Tone]>>> = {
  PENDING: ['opening', 'busy'],
  ACTIVE: ['open', 'good'],
  PARTIAL: ['partly open', 'warn'],
  FAILED: ['refused', 'bad'],
};
const ENDING = ['closing', 'busy'] as const;

/** From where to what a session leads. */
export const wayOf = ({ ipv4Address, ipv6Address, resourceIps }: Session): string =>
  `${[ipv4Address, ipv6Address].filter(Boolean).join(' and ')} to ${[
    ...new Set(resourceIps.map(({ resourceName }) => resourceName)),
  ].join(', ')}`;

const isUnsettled = ({ items }: List<Session>): boolean =>
  items.some(({ status }) => STATUS[status] === undefined || status === 'PENDING');

/** What a user holds open now, with a button that stops it. */
export const SessionsNow = ({ userId, name }: { readonly userId: string; readonly name: string }) => (
  <Loaded query={useList('/api/v1/sessions/admin', { query: { userId, active: true } }, { isUnsettled })}>
    {({ items }) => (
      <Table
        caption={`Open sessions of ${name}`}
        rows={items}
        keyOf={({ id }) => id}
        empty={<Empty title="Nothing is open." />}
        columns={[
          { head: 'Access', cell: (session) => `From ${wayOf(session)}` },
          {
            head: 'State',
            cell: ({ status }) => {
              const [text, tone] = STATUS[status] ?? ENDING;
              return <Badge tone={tone}>{text}</Badge>;
            },
          },
          {
            head: 'Until',
            cell: ({ expiresAt }) => (
              <>
                <Time at={expiresAt} />{' '}
                <Muted>
                  <TimeLeft until={expiresAt} />
                </Muted>
              </>
            ),
          },
          {
            head: '',
            cell: (session) => (
              <ConfirmButton
                label="Stop"
                title={`Stop the session of ${name}?`}
                act={() =>
                  api.POST('/api/v1/sessions/admin/{id}/stop', { params: { path: { id: session.id } } })
                }
              >
                <p>The access from {wayOf(session)} is closed at once.</p>
              </ConfirmButton>
            ),
          },
        ]}
      />
    )}
  </Loaded>
);
