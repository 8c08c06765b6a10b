import { useState } from 'react';
import { $api, api, type Schemas } from '../../api';
import { Collection } from '../../parts/collection';
import { HEALTH_EVENTS } from '../../parts/event-texts';
import { ProviderMessage } from '../../parts/provider-message';
import type { Resource } from '../../parts/types';
import { Action, Badge, Code, ConfirmButton, Empty, Facts, Loaded, Muted, Notice } from '../../ui';
import { Section, Table, Time, unbroken } from '../../ui';
import { Warnings } from './resource-form';

/** Whether the target can be read and has the rules that it should have; and both now. */
export function ResourceHealth({ id }: { id: string }) {
  const [warnings, setWarnings] = useState<readonly string[]>([]);
  const params = { path: { id } };
  const verify = async (): Promise<void> =>
    setWarnings((await api.POST('/api/v1/resources/{id}/verify', { params })).data!.warnings);
  return (
    <Section
      title="Health"
      actions={
        <>
          <Action label="Verify now" busy="Asking the provider…" act={verify} />
          <Action
            label="Reconcile now"
            act={() => api.POST('/api/v1/resources/{id}/reconcile', { params })}
          />
        </>
      }
    >
      <Muted>
        Verify: may the target be read and written? Reconcile: has it the rules that it should have? What is
        missing is written again, which also happens by itself, every 45 seconds.
      </Muted>
      <Warnings of={warnings} />
      <Collection
        caption="Verifications and reconciliations"
        path="/api/v1/resource-health/events"
        query={{ resourceId: id }}
        empty={<Empty title="It was not verified yet" />}
        columns={[
          { head: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            head: 'What',
            cell: ({ eventType: type }) => (
              <Badge tone={type.endsWith('_OK') ? 'good' : 'bad'}>{HEALTH_EVENTS[type]}</Badge>
            ),
          },
          {
            head: 'Message',
            cell: ({ eventType: type, message }) =>
              message === null || type.endsWith('_OK') ? message : <ProviderMessage of={message} />,
          },
        ]}
      />
    </Section>
  );
}

const trafficText = ({ protocol, ports }: Schemas['TrafficDto']): string =>
  `${protocol} ${ports.length === 0 ? 'every port' : ports.join(', ')}`;

const listText = (traffic: readonly Schemas['TrafficDto'][]): string | null =>
  traffic.map(trafficText).join('; ') || null;

/** What the host keeps closed by itself, and whom closing it would disconnect. */
export function ResourceGuard({ of: { id, name } }: { of: Resource }) {
  const params = { path: { id } };
  const guard = $api.useQuery('get', '/api/v1/resources/{id}/guard', { params });
  return (
    <Loaded query={guard}>
      {({ agent, reportedAt, guarded, notGuarded, waiting, leftAlone, refused, wouldCut }) => (
        <Section title="Guard of the host">
          {reportedAt === null ? (
            <Notice>It reports its guard once the agent is connected and this resource is verified.</Notice>
          ) : null}
          <Facts
            of={{
              Agent: <Code>{agent}</Code>,
              'Last change reported': <Time at={reportedAt} none="never" />,
              'Kept closed': listText(guarded),
              'Not kept closed': listText(notGuarded),
              'Waits for a confirmation': listText(waiting),
              'Left open: not confirmed': listText(leftAlone),
              'Refused by the host':
                refused.map((each) => `${trafficText(each)}: ${each.reason}`).join('; ') || null,
            }}
          />
          <Table
            caption="Connections that a guard would cut"
            rows={wouldCut}
            keyOf={({ address, protocol, port }) => `${address} ${protocol} ${port}`}
            empty={null}
            columns={[
              { head: 'Connected without access', cell: ({ address }) => <Code>{address}</Code> },
              { head: 'To', cell: ({ protocol, port }) => `${protocol} ${port}` },
            ]}
          />
          {waiting.length + leftAlone.length > 0 ? (
            <div>
              <ConfirmButton
                label="Guard these ports"
                title={`Guard the ports of ${name}?`}
                act={() => api.POST('/api/v1/resources/{id}/confirm-guard', { params })}
              >
                <p>
                  The host {agent} closes {listText([...waiting, ...leftAlone])} to every address without
                  access. This cuts{' '}
                  {unbroken(
                    wouldCut.map(({ address }) => address).join(', ') || 'no connection that is known',
                  )}
                  .
                </p>
              </ConfirmButton>
            </div>
          ) : null}
        </Section>
      )}
    </Loaded>
  );
}
