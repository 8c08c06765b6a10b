import { $api, api, type Schemas } from '../../api';
import { ConfirmButton, Facts, Loaded, Notice, Section, Table, Time } from '../../ui';

type Traffic = Schemas['TrafficDto'];

const trafficText = ({ protocol, ports }: Traffic): string =>
  `${protocol} ${ports.length === 0 ? 'every port' : ports.join(', ')}`;

const listText = (traffic: readonly Traffic[]): string | null => traffic.map(trafficText).join('; ') || null;

/** What the host keeps closed by itself, and whom closing it would disconnect. */
export function ResourceGuard({ of: { id, name } }: { readonly of: Schemas['ResourceDto'] }) {
  const params = { path: { id } };
  const guard = $api.useQuery('get', '/api/v1/resources/{id}/guard', { params });
  return (
    <Loaded query={guard}>
      {({ agent, reportedAt, guarded, notGuarded, waiting, leftAlone, refused, wouldCut }) => (
        <Section title="Guard of the host">
          {reportedAt === null ? (
            <Notice>
              The agent {agent} has reported no guard yet. It does so once it is connected and this resource
              is verified.
            </Notice>
          ) : null}
          <Facts
            of={{
              Agent: <code>{agent}</code>,
              'Last change reported': <Time at={reportedAt} />,
              'Kept closed': listText(guarded),
              'Not kept closed': listText(notGuarded),
              'Waits for a confirmation': listText(waiting),
              'Left open: nobody confirmed': listText(leftAlone),
              'Refused by the host':
                refused.map((each) => `${trafficText(each)}: ${each.reason}`).join('; ') || null,
            }}
          />
          {wouldCut.length > 0 ? (
            <Table
              caption="Connections that a guard would cut"
              rows={wouldCut}
              keyOf={({ address, protocol, port }) => `${address} ${protocol} ${port}`}
              empty={null}
              columns={[
                { head: 'Connected without access', cell: ({ address }) => <code>{address}</code> },
                { head: 'To', cell: ({ protocol, port }) => `${protocol} ${port}` },
              ]}
            />
          ) : null}
          {waiting.length + leftAlone.length > 0 ? (
            <div>
              <ConfirmButton
                label="Guard these ports"
                title={`Guard the ports of ${name}?`}
                act={() => api.POST('/api/v1/resources/{id}/confirm-guard', { params })}
              >
                <p>
                  The host {agent} closes {listText([...waiting, ...leftAlone])} to every address without
                  access.
                  {wouldCut.length > 0
                    ? ` This cuts connections from ${wouldCut.map(({ address }) => address).join(', ')}.`
                    : ' No connection that is known would be cut.'}
                </p>
              </ConfirmButton>
            </div>
          ) : null}
        </Section>
      )}
    </Loaded>
  );
}
