import { useState } from 'react';
import { api, type Schemas } from '../../api';
import { Badge, Form, Muted, Notice, Table, TextArea } from '../../ui';

type Checks = readonly Schemas['TokenCheckDto'][];

/** Compares a pasted ID token with a trust. The token is in the text area alone, and gone once there is an answer. */
export function Explain({ id }: { readonly id: string }) {
  const [answers, setAnswers] = useState<readonly Checks[]>([]);
  const checks = answers.at(-1);
  return (
    <>
      <Form
        // with the next form, nothing has the token any more
        key={answers.length}
        submit="Explain"
        busy="Comparing…"
        onDone={(answer: Checks) => setAnswers([...answers, answer])}
        send={async (entered) => {
          const body = { idToken: entered.text('idToken') };
          return (await api.POST('/api/v1/oidc-trusts/{id}/explain', { params: { path: { id } }, body }))
            .data!;
        }}
      >
        <TextArea
          name="idToken"
          label="ID token of a job"
          autoComplete="off"
          help="It is compared and forgotten; the job can still use it."
        />
      </Form>
      {checks ? <Answer checks={checks} /> : null}
    </>
  );
}

function Answer({ checks }: { readonly checks: Checks }) {
  const failed = checks.filter(({ ok }) => !ok).map(({ claim }) => claim);
  return (
    <>
      <Notice tone={failed.length === 0 ? 'good' : 'bad'} announced>
        {failed.length === 0
          ? 'Accepted: it meets all conditions.'
          : `Refused. Not as expected: ${failed.join(', ')}.`}
      </Notice>
      <Table
        caption="Checks of the token"
        rows={checks}
        keyOf={({ claim, wanted }) => `${claim} ${wanted}`}
        empty={null}
        columns={[
          {
            head: 'Result',
            cell: ({ ok }) => <Badge tone={ok ? 'good' : 'bad'}>{ok ? 'met' : 'not met'}</Badge>,
          },
          { head: 'Condition', cell: ({ claim }) => <code>{claim}</code> },
          { head: 'Expected', cell: ({ wanted }) => wanted },
          { head: 'Found', cell: ({ found }) => found ?? <Muted>absent</Muted> },
        ]}
      />
    </>
  );
}
