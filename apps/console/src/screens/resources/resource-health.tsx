import { useState } from 'react';
import { $api, api, type Schemas } from '../../api';
import { Action, Badge, Empty, Loaded, Notice, Pager, Section, Table, Time } from '../../ui';
import { wordsOf } from './types';

const SIZE = 50;

type HealthEvent = Schemas['HealthEventDto'];

/** Whether the target can be read and has the rules that it should have; and both now. */
export function ResourceHealth({ id, page }: { readonly id: string; readonly page: number }) {
  const [said, setSaid] = useState<readonly string[]>([]);
  const params = { path: { id } };
  const events = $api.useQuery('get', '/api/v1/resource-health/events', {
    params: { query: { resourceId: id, page, size: SIZE } },
  });
  const actions = (
    <>
      <Action
        label="Verify now"
        busy="Asking the provider…"
        act={async () => {
          const { warnings } = (await api.POST('/api/v1/resources/{id}/verify', { params })).data!;
          setSaid(['It can be read.', ...warnings]);
        }}
      />
      <Action
        label="Reconcile now"
        act={async () => {
          await api.POST('/api/v1/resources/{id}/reconcile', { params });
          setSaid(['The rules are being compared. The outcome appears below.']);
        }}
      />
    </>
  );
  return (
    <Section title="Health" actions={actions}>
      {said.length > 0 ? (
        <Notice tone={said.length > 1 ? 'warn' : 'neutral'} announced>
          {said.map((text) => (
            <p key={text}>{text}</p>
          ))}
        </Notice>
      ) : null}
      <Loaded query={events}>
        {({ content, totalElements }) => (
          <>
            <Table
              caption="Verifications and reconciliations"
              rows={content}
              keyOf={(event) => event.id}
              empty={<Empty title="It was not verified yet" />}
              columns={[
                { head: 'When', cell: ({ createdAt }) => <Time at={createdAt} /> },
                { head: 'What', cell: (event) => <Outcome of={event} /> },
                { head: 'Message', cell: ({ message }) => message },
              ]}
            />
            <Pager page={page} size={SIZE} total={totalElements} />
          </>
        )}
      </Loaded>
    </Section>
  );
}

const Outcome = ({ of: { eventType } }: { readonly of: HealthEvent }) => (
  <Badge tone={eventType.endsWith('_OK') ? 'good' : 'bad'}>{wordsOf(eventType)}</Badge>
);
