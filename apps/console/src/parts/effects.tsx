import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { paths } from '#client/schema';
import { api, type Schemas } from '../api';
import { Facts, Loaded, Notice } from '../ui';
import { count, inShort, Some } from './words';

type Plan = Schemas['ChangePlanDto'];

interface EffectsProps {
  readonly method: 'delete' | 'patch' | 'post';
  readonly path: keyof paths;
  readonly id?: string | null;
  readonly body?: object;
}

/** What a request would do, in the dialog that asks for it. */
export function Effects({ method, path, id, body }: EffectsProps) {
  const params = { path: { id }, query: { dryRun: true } };
  const plan = useQuery({
    queryKey: ['plan', method, path, id, body],
    queryFn: async ({ signal }) => {
      // one of the requests with a dry run stands for all: the answer to dryRun is a plan
      const one = path as '/api/v1/roles/{id}';
      const asked = {
        params: params as { path: { id: string } },
        body: body as Schemas['UpdateRoleDto'],
        signal,
      };
      const { data } = await api.request(method as 'patch', one, asked);
      return data as unknown as Plan;
    },
    // once for a dialog: not again when its act is done
    refetchInterval: false,
    staleTime: 'static',
    gcTime: 0,
    placeholderData: keepPreviousData,
  });
  return <Loaded query={plan}>{(planned) => <Planned plan={planned} />}</Loaded>;
}

const MAX_NAMED = 5;

function Planned({ plan: { refusal, refused = [], rights, continuing, ends, opens } }: { plan: Plan }) {
  if (refusal) return <Notice tone="warn">It would be refused: {refusal.message}</Notice>;
  const { sessions, people, jobs, staticIpRules, rules } = ends;
  const { sessions: stay } = continuing;
  return (
    <>
      <Facts
        of={{
          'Ends at once': list([
            count(sessions, 'open session') + (people > 0 ? ` of ${count(people, 'user')}` : ''),
            jobs > 0 ? `${jobs} of programs` : '',
          ]),
          Closes: list([some(rules, 'rule'), some(staticIpRules, 'static IP rule')]),
          Opens: list([some(opens.rules, 'rule')]),
          'Would be refused': inShort(refused.map(({ message = '' }) => message)) || null,
          'Stays open': stay ? `${count(stay, 'session')}, though not allowed any more` : null,
        }}
      />
      <Rights of={rights.lost} what="Not allowed any more" />
      <Rights of={rights.gained} what="Allowed from now on" />
    </>
  );
}

const some = (number: number, one: string): string => (number > 0 ? count(number, one) : '');
const list = (parts: readonly string[]): string | null => parts.filter(Boolean).join(', ') || null;

function Rights({ of: { total, atMost, sample }, what }: { of: Plan['rights']['lost']; what: string }) {
  if (atMost === 0) return null;
  return (
    <div>
      <strong>
        {what}: {total === null ? 'at most ' : ''}
        {count(total ?? atMost, 'right')}
      </strong>
      <Some
        of={sample.slice(0, MAX_NAMED).map(({ email, resourceName }) => `${email} on ${resourceName}`)}
        {...(total === null ? {} : { total })}
      />
    </div>
  );
}
