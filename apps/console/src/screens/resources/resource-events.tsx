import { useList } from '../../api';
import { Empty, Loaded, Muted, Pager, Section, Table, Time } from '../../ui';
import { RuleText } from './resource-rules';
import { sentence, wordsOf } from './types';

const SIZE = 50;

/** What was observed of the resource's rules, newest first. */
export function ResourceEvents({ id, page }: { readonly id: string; readonly page: number }) {
  const events = useList('/api/v1/resources/{id}/events', { path: { id }, query: { page, size: SIZE } });
  return (
    <Section title="Events">
      <Loaded query={events}>
        {({ items, total }) => (
          <>
            <Table
              caption="Events of the rules"
              rows={items}
              keyOf={(event) => event.id}
              empty={<Empty title="Nothing was opened here yet" />}
              columns={[
                { head: 'When', cell: ({ at }) => <Time at={at} /> },
                {
                  head: 'What',
                  cell: ({ kind, cause, message }) => (
                    <div>
                      {sentence(wordsOf(kind))}
                      <br />
                      <Muted>{[cause ? wordsOf(cause) : null, message].filter(Boolean).join(': ')}</Muted>
                    </div>
                  ),
                },
                { head: 'Rule', cell: (event) => <RuleText {...event} /> },
                {
                  head: 'Who',
                  cell: ({ userEmail, holderKind }) => userEmail ?? sentence(wordsOf(holderKind)),
                },
              ]}
            />
            <Pager page={page} size={SIZE} total={total} />
          </>
        )}
      </Loaded>
    </Section>
  );
}
